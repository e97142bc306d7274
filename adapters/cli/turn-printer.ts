/** Prints what a run says and does, as it comes. */
import type { Output } from './output.ts';
import { blockText, lineText } from './text.ts';

/** One run on the terminal. Foreign text is made harmless; a tool's line is finished in place unless something came between. */
export class TurnPrinter {
  readonly #out: Output;
  #atLineStart = true;
  #skipsBreaks = false;
  #openStep: string | undefined;

  constructor(out: Output) {
    this.#out = out;
  }

  /** More of the reply. */
  token(delta: string): void {
    this.#freshLineAfterStep();
    const text = this.#skipsBreaks ? blockText(delta).replace(/^\n+/, '') : blockText(delta);
    if (text === '') return;
    this.#skipsBreaks = false;
    this.#write(text);
  }

  /** A tool begins. */
  toolStart(name: string): void {
    this.end();
    this.#openStep = name;
    this.#write(this.#out.paint('dim', `  · ${lineText(name)}`));
  }

  /** A tool has ended. */
  toolEnd(name: string, success: boolean): void {
    const mark = success ? this.#out.paint('green', '✓') : this.#out.paint('red', '✗');
    if (this.#openStep === name) this.#write(` ${mark}\n`);
    else {
      this.end();
      this.#write(`  ${mark} ${this.#out.paint('dim', lineText(name))}\n`);
    }
    this.#openStep = undefined;
    this.#skipsBreaks = true;
  }

  /** A line of its own that is not the agent's. */
  notice(text: string): void {
    this.end();
    this.#write(`${this.#out.paint('dim', `(${lineText(text)})`)}\n`);
  }

  /** A question of the agent. */
  question(text: string): void {
    this.end();
    this.#write(`${this.#out.paint('yellow', `? ${blockText(text)}`)}\n`);
  }

  /** Finishes the line that is being written, if any. */
  end(): void {
    this.#openStep = undefined;
    if (!this.#atLineStart) this.#write('\n');
  }

  #freshLineAfterStep(): void {
    if (this.#openStep === undefined) return;
    this.end();
    this.#skipsBreaks = true;
  }

  #write(text: string): void {
    this.#out.write(text);
    this.#atLineStart = text.endsWith('\n');
  }
}
