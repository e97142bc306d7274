import { describeAttacks } from '../attacks/attack-suite.ts';

describe('the slow cases of the attack corpus', () => describeAttacks(true));
