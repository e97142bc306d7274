import { OryxError } from '../../kernel/index.ts';
import { checkFile } from './check-file.ts';

/**
 * Turns the copy at `file` into one self-contained file and checks all of it (`integrity_check`).
 *
 * Rejects with ORYX_STORE_UNAVAILABLE when the copy is not sound.
 */
export async function verifyCopy(file: string): Promise<void> {
  const problem = await checkFile(file, 'full');
  if (problem !== undefined) throw new OryxError('ORYX_STORE_UNAVAILABLE', `The copy of the database is not sound: ${problem}.`);
}
