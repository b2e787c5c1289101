/** The fields of a new password, which is typed twice. */
import { Field } from '../../design/controls/field.tsx';

export interface TypedPassword {
  readonly first: string;
  readonly again: string;
}

export const NO_PASSWORD: TypedPassword = { first: '', again: '' };

/** Undefined while the two differ, or if there is none. */
export function passwordOf({ first, again }: TypedPassword): string | undefined {
  return first !== '' && first === again ? first : undefined;
}

export interface NewPasswordProps {
  readonly typed: TypedPassword;
  readonly onChange: (typed: TypedPassword) => void;
  /** True once the form was submitted: a password that is missing is an error then. */
  readonly isTried?: boolean;
  readonly label?: string;
}

export function NewPassword({ typed, onChange, isTried = false, label = 'New password' }: NewPasswordProps) {
  const { first, again } = typed;
  // While the second one is being typed it is shorter, which is no error yet.
  const isOther = again !== '' && first !== again && (isTried || !first.startsWith(again));
  return (
    <div className="field-pair">
      <Field
        label={label}
        type="password"
        value={first}
        onChange={(text) => onChange({ first: text, again })}
        autoComplete="new-password"
        error={isTried && first === '' ? 'Type a password.' : undefined}
        help="Four or more words that nobody would guess. Dray cannot reset it."
      />
      <Field
        label="The same again"
        type="password"
        value={again}
        onChange={(text) => onChange({ first, again: text })}
        autoComplete="new-password"
        error={isOther || (isTried && first !== '' && again === '') ? 'The two differ.' : undefined}
      />
    </div>
  );
}
