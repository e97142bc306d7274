import { masked } from './masked.ts';

/** One shape: everything that matches is replaced by what `replace` makes of the groups. */
interface Shape {
  readonly pattern: RegExp;
  readonly replace: (match: string, before: string, secret: string, after?: string) => string;
}

const afterPrefix = (pattern: RegExp): Shape => ({ pattern, replace: (_match, before, secret) => before + masked(secret) });
const whole = (pattern: RegExp): Shape => ({ pattern, replace: (match) => masked(match) });

/**
 * No pattern can begin inside the unbounded run of another of its matches, or its run ends where it could begin again; so each text is
 * walked a constant number of times.
 */
const SHAPES: readonly Shape[] = [
  {
    pattern:
      /(authorization(?:\\{0,7}["'][ \t]*[:=][ \t]*\\{0,7}["']|[ \t]*[:=][ \t]*(?:\\{0,7}["'])?)(?:[a-z][a-z0-9_-]*[ \t]+)?)([^\s"',;\\]+)/gi,
    replace: (_match, before, secret) => before + masked(secret),
  },
  afterPrefix(/(\bbearer[ \t]+)([a-z0-9._~+/=-]{16,})/gi),
  // Userinfo of a URL: up to the last "@" before path, query or fragment.
  { pattern: /(:\/\/[^\s/?#:@"'<>\\]*:)([^\s/?#"'<>\\]+)(@)/g, replace: (_match, before, secret, at = '') => before + masked(secret) + at },
  afterPrefix(/((?:[?&;]|\\u0026)(?:sign|signature|sig|key|auth|access_token)=)([^&\s"'<>#\\]+)/gi),
  // Webhook addresses carry their secret in the path.
  afterPrefix(/(\/hook\/|hooks\.slack\.com\/services\/)([^\s"'<>?#\\]{12,})/g),
  afterPrefix(/(\/bot)(\d{5,}:[A-Za-z0-9_-]{20,})/g),
  // Long runs of letters and digits are no word, so they count even in the middle of other text.
  whole(/(?<![A-Za-z0-9])sk-[A-Za-z0-9_-]{6,}|sk-[A-Za-z0-9]{20,}/g),
  whole(/(?<![A-Za-z0-9])oryx_[A-Za-z0-9_-]{6,}|oryx_[A-Za-z0-9]{20,}/g),
  whole(/A[KS]IA[A-Z0-9]{16}|AIza[A-Za-z0-9_-]{35}/g),
  whole(/gh[pousr]_[A-Za-z0-9]{16,}|github_pat_[A-Za-z0-9_]{20,}|glpat-[A-Za-z0-9_-]{16,}/g),
  whole(/xox[a-z]-[A-Za-z0-9-]{8,}/g),
  whole(/(?<![A-Za-z0-9_-])eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{4,}(?:\.[A-Za-z0-9_-]*)*/g),
];

/** Hides what looks like a secret by itself: authorization headers, passwords in URLs, tokens of known vendors, JSON web tokens. */
export function maskShapes(text: string): string {
  return SHAPES.reduce((done, { pattern, replace }) => done.replace(pattern, replace), text);
}

const PEM_BEGIN = /-----BEGIN [A-Z0-9 ]{1,40}-----/g;
/** What the body of a block consists of, escaped line ends included. */
const PEM_BODY = /[A-Za-z0-9+/=\s\\:,-]*/y;

/** Hides the body of PEM blocks, also of one that was cut off. */
export function maskPem(text: string): string {
  const parts: string[] = [];
  let done = 0;
  PEM_BEGIN.lastIndex = 0;
  for (let found = PEM_BEGIN.exec(text); found; found = PEM_BEGIN.exec(text)) {
    PEM_BODY.lastIndex = PEM_BEGIN.lastIndex;
    const body = PEM_BODY.exec(text)?.[0] ?? '';
    if (body === '') continue;
    const end = body.search(/-----END/);
    parts.push(text.slice(done, PEM_BEGIN.lastIndex), '****');
    done = PEM_BEGIN.lastIndex + (end === -1 ? body.length : end);
    PEM_BEGIN.lastIndex = done;
  }
  return done === 0 ? text : parts.join('') + text.slice(done);
}
