/** Places where a test may end the process: the only way to prove what a crash there leaves behind. */

/** The moments of a run that a test can name. */
export type Moment =
  | 'after_user_msg_persisted'
  | 'after_llm_response_before_persist'
  | 'after_tool_call_persisted'
  | 'during_tool_execution'
  | 'after_result_persisted'
  | 'after_reply_persisted_before_response'
  | 'step';

/** Called at every moment; does nothing, ends the process or throws, as it was made to. */
export type Failpoint = (moment: Moment) => void;

/**
 * Reads "moment:action" or "moment@n:action" (the n-th time, from 1). The actions are `SIGKILL`, which ends the process on the spot,
 * and `throw`. "" means none.
 */
export function failpointFrom(spec: string): Failpoint {
  const match = /^([a-z_]+)(?:@(\d+))?:(SIGKILL|throw)$/.exec(spec);
  if (!match) return () => undefined;
  const [, name, nth = '1', action] = match;
  let left = Number(nth);
  return (moment) => {
    if (moment !== name) return;
    left -= 1;
    if (left !== 0) return;
    if (action === 'SIGKILL') process.kill(process.pid, 'SIGKILL');
    throw new Error(`failpoint ${moment}`);
  };
}
