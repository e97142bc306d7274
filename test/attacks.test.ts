import { describeAttacks } from './attacks/attack-suite.ts';

describe('the attack corpus', () => describeAttacks(false));
