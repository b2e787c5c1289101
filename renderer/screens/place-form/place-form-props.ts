import type { PlaceFaults, PlaceField, PlaceFields } from './place-fields.ts';
import type { Credentials } from './use-credentials.ts';

/** The props of each part of the form for a place. */
export interface PlaceFormProps {
  readonly fields: PlaceFields;
  readonly change: (next: Partial<PlaceFields>) => void;
  /** The errors that are shown. */
  readonly faults: PlaceFaults;
  readonly credentials: Credentials;
}

/** The props of a field, by its name. */
export function bindTo({ change, faults, fields }: Omit<PlaceFormProps, 'credentials'>) {
  return (name: PlaceField) => ({
    value: fields[name],
    onChange: (value: string) => change({ [name]: value }),
    error: faults[name],
    spellCheck: 'false' as const,
    autoComplete: 'off',
  });
}
