/** A thread that matches lines, so that a slow pattern holds up nothing but itself. */
import { parentPort } from 'node:worker_threads';
import { lineMatcher } from './line-matcher.ts';
import type { FoundLine, LineMatcher, LinePattern } from './line-matcher.ts';

/** First a pattern, then any number of files to search for it. */
export type MatcherRequest = { readonly pattern: LinePattern } | { readonly bytes: Uint8Array; readonly max: number };

/** The answer to each request, in order; a pattern has no lines. */
export type MatcherAnswer = { readonly ok: true; readonly lines: readonly FoundLine[] } | { readonly ok: false; readonly message: string };

let matcher: LineMatcher = () => [];

function answerTo(request: MatcherRequest): MatcherAnswer {
  if ('bytes' in request) return { ok: true, lines: matcher(request.bytes, request.max) };
  try {
    matcher = lineMatcher(request.pattern);
    return { ok: true, lines: [] };
  } catch (error) {
    return { ok: false, message: error instanceof Error ? error.message : String(error) };
  }
}

// oxlint-disable-next-line unicorn/require-post-message-target-origin -- threads have no origin
parentPort?.on('message', (request: MatcherRequest) => parentPort?.postMessage(answerTo(request)));
