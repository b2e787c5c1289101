import type { PlaceFaults, PlaceField, PlaceFields } from './place-fields.ts';
import type { Credentials } from './use-credentials.ts';

/** What each part of the form for a place is given. */
export interface PlaceFormProps {
  readonly fields: PlaceFields;
  readonly change: (next: Partial<PlaceFields>) => void;
  /** Those that are shown. */
  readonly faults: PlaceFaults;
  readonly credentials: Credentials;
}

/** What a field of the form is given, by its name. */
export function bindTo({ change, faults, fields }: Omit<PlaceFormProps, 'credentials'>) {
  return (name: PlaceField) => ({
    value: fields[name],
    onChange: (value: string) => change({ [name]: value }),
    error: faults[name],
    spellCheck: 'false' as const,
    autoComplete: 'off',
  });
}
