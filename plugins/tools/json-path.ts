/** Paths into JSON: names separated by ".", "[n]" for list items, "$" for the document itself. */

/** One step: a member's name, or a position in a list. A name of digits also counts as a position when it meets a list. */
export type PathStep = { readonly name: string } | { readonly index: number };

const MAX_STEPS = 100;
const STEP = /(?:^|\.)([^.[\]]+)|\[(\d{1,9})\]/y;

/** The steps of a path, none for "" and "$"; undefined when it is malformed or has more than 100 steps. */
export function pathSteps(path: string): readonly PathStep[] | undefined {
  // After "$" a name needs its dot, and the expression asks for one everywhere but at the start.
  const text = path.replace(/^\$(?=$|[.[])/, '').trim();
  const steps: PathStep[] = [];
  STEP.lastIndex = 0;
  while (STEP.lastIndex < text.length) {
    const match = STEP.exec(text);
    if (match === null || steps.length === MAX_STEPS) return undefined;
    const [, name, index] = match;
    steps.push(name === undefined ? { index: Number(index) } : { name });
  }
  return steps;
}
