/** Which models may answer an agent, for whoever wants to know them beforehand. */
export { candidatesOf } from './candidates.ts';
