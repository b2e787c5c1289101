import { Field, type FieldProps } from '../../../design/controls/field.tsx';

type TextKey<Form> = { [Key in keyof Form]: Form[Key] extends string ? Key : never }[keyof Form] & string;

export interface FormFieldProps<Form> extends Omit<FieldProps, 'form' | 'name' | 'value' | 'onChange'> {
  readonly form: Form;
  readonly set: (change: Partial<Form>) => void;
  /** The text of the form that it shows and changes. */
  readonly name: TextKey<Form>;
}

export function FormField<Form>({ form, set, name, ...rest }: FormFieldProps<Form>) {
  const change = (value: string) => set({ [name]: value } as Partial<Form>);
  return <Field {...rest} value={form[name] as string} onChange={change} />;
}
