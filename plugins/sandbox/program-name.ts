/** True for a program's plain name: no path, no blanks, nothing that a program would take for an option. */
export const isProgramName = (text: string): boolean => /^[A-Za-z0-9._+][A-Za-z0-9._+-]*$/.test(text) && !/^\.\.?$/.test(text);
