/** Says in plain words what is wrong with a value. */

/** What a validator reports about one fault. */
export interface Fault {
  readonly keyword: string;
  /** JSON pointer to the value at fault. */
  readonly instancePath: string;
  readonly schemaPath: string;
  readonly params: Readonly<Record<string, unknown>>;
  readonly propertyName?: string;
}

/** How many faults one message names. */
const MAX_NAMED = 5;

const FORMATS: Readonly<Record<string, string>> = {
  'date-time': 'an ISO 8601 date and time with zone',
  date: 'a date like 2026-01-31',
  uri: 'a URL',
  uuid: 'a UUID',
  email: 'an e-mail address',
};

const TYPES: Readonly<Record<string, string>> = {
  string: 'a string',
  number: 'a number',
  integer: 'an integer',
  boolean: 'true or false',
  array: 'a list',
  object: 'an object',
};

/**
 * One sentence about the faults, each naming its parameter by its dotted path: "path is required; limit must be an integer".
 *
 * @param subject  what the value as a whole is called
 */
export function sentence(faults: readonly Fault[], subject: string): string {
  const said = new Set(withoutBranches(faults).map((fault) => described(fault, subject)));
  const named = [...said].slice(0, MAX_NAMED);
  const more = said.size - named.length;
  return more > 0 ? `${named.join('; ')}; and ${more} more` : named.join('; ');
}

/** Faults inside the branches of a choice say nothing by themselves; a choice between plain types becomes one fault about the type. */
function withoutBranches(faults: readonly Fault[]): readonly Fault[] {
  const choices = faults.filter(({ keyword }) => keyword === 'anyOf' || keyword === 'oneOf');
  const inside = (fault: Fault, choice: Fault): boolean =>
    fault !== choice && fault.schemaPath.startsWith(`${choice.schemaPath}/`) && fault.instancePath.startsWith(choice.instancePath);
  return faults
    .filter((fault) => fault.keyword !== 'if' && fault.propertyName === undefined && !choices.some((choice) => inside(fault, choice)))
    .map((fault) => {
      const branches = choices.includes(fault) ? faults.filter((other) => inside(other, fault)) : [];
      const isTypes = branches.length > 0 && branches.every((b) => b.keyword === 'type' && b.instancePath === fault.instancePath);
      return isTypes ? { ...fault, keyword: 'type', params: { type: branches.flatMap(({ params }) => params['type']) } } : fault;
    });
}

function described({ keyword, instancePath, params }: Fault, subject: string): string {
  const path = instancePath
    .split('/')
    .slice(1)
    .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'));
  const name = path.join('.') || subject;
  const member = (key: unknown): string => [...path, String(key)].join('.');
  const limit = Number(params['limit']);
  switch (keyword) {
    case 'required':
      return `${member(params['missingProperty'])} is required`;
    case 'dependentRequired':
      return `${member(params['missingProperty'])} is required together with ${member(params['property'])}`;
    case 'additionalProperties':
    case 'unevaluatedProperties':
      return `${member(params['additionalProperty'] ?? params['unevaluatedProperty'])} is not known`;
    case 'propertyNames':
      return `${member(params['propertyName'])} is not an allowed name`;
    case 'type':
      return `${name} must be ${[params['type']].flat().map(typeName).join(' or ')}`;
    case 'enum':
      return `${name} must be one of ${(params['allowedValues'] as readonly unknown[]).map((value) => JSON.stringify(value)).join(', ')}`;
    case 'const':
      return `${name} must be ${JSON.stringify(params['allowedValue'])}`;
    case 'minimum':
      return `${name} must be at least ${limit}`;
    case 'maximum':
      return `${name} must be at most ${limit}`;
    case 'exclusiveMinimum':
      return `${name} must be greater than ${limit}`;
    case 'exclusiveMaximum':
      return `${name} must be less than ${limit}`;
    case 'multipleOf':
      return `${name} must be a multiple of ${String(params['multipleOf'])}`;
    case 'minLength':
      return limit === 1 ? `${name} must not be empty` : `${name} must have at least ${limit} characters`;
    case 'maxLength':
      return `${name} must have at most ${counted(limit, 'character')}`;
    case 'minItems':
    case 'minProperties':
      return `${name} must have at least ${counted(limit, 'entry')}`;
    case 'maxItems':
    case 'maxProperties':
      return `${name} must have at most ${counted(limit, 'entry')}`;
    case 'uniqueItems':
      return `${name} must not have the same entry twice`;
    case 'pattern':
      return `${name} must match ${String(params['pattern'])}`;
    case 'format':
      return `${name} must be ${FORMATS[String(params['format'])] ?? `a valid ${String(params['format'])}`}`;
    case 'not':
    case 'false schema':
      return `${name} is not allowed`;
    case 'anyOf':
    case 'oneOf':
      return `${name} has none of the allowed forms`;
    default:
      return `${name} is not valid`;
  }
}

function counted(count: number, noun: 'character' | 'entry'): string {
  const plural = noun === 'entry' ? 'entries' : 'characters';
  return `${count} ${count === 1 ? noun : plural}`;
}

function typeName(type: unknown): string {
  return TYPES[String(type)] ?? String(type);
}
