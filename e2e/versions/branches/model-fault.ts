/** A rule of the model that a command broke. Its name stays the same while a sequence is made shorter. */
export class ModelFault extends Error {
  readonly rule: string;

  constructor(rule: string, details: unknown) {
    super(`${rule}: ${typeof details === 'string' ? details : JSON.stringify(details)}`);
    this.rule = rule;
  }
}

/** @throws ModelFault */
export function requireRule(holds: boolean, rule: string, details: () => unknown): void {
  if (!holds) throw new ModelFault(rule, details());
}
