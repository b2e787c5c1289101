/** Requests in flight: found by the engine, or a fixed number. */
import { Segmented } from '../../design/controls/choices.tsx';
import { Field } from '../../design/controls/field.tsx';
import type { SettingProps } from './setting-props.ts';
import { useTypedText } from './use-typed-text.ts';

const FIRST_COUNT = 16;
const COUNT_MAX = 256;

export function ConcurrencySetting({ settings: { transfers }, set }: SettingProps) {
  return (
    <div className="stack">
      <Segmented
        label="Requests in flight"
        value={transfers === null ? 'adaptive' : 'fixed'}
        onChange={(choice) => set({ transfers: choice === 'adaptive' ? null : FIRST_COUNT })}
        choices={[
          { id: 'adaptive', label: 'Adaptive' },
          { id: 'fixed', label: 'Fixed' },
        ]}
      />
      {transfers !== null && <Count count={transfers} onCount={(count) => set({ transfers: count })} />}
    </div>
  );
}

function Count({ count, onCount }: { readonly count: number; readonly onCount: (count: number) => void }) {
  const [text, setText] = useTypedText(String(count));
  const typed = Number(text);
  const isValid = Number.isInteger(typed) && typed >= 1 && typed <= COUNT_MAX;
  const keep = (): void => {
    if (isValid && typed !== count) onCount(typed);
  };
  return (
    <div className="setting-number">
      <Field
        label="At once"
        value={text}
        onChange={setText}
        onBlur={keep}
        onKeyDown={(event) => event.key === 'Enter' && keep()}
        inputMode="numeric"
        error={isValid ? undefined : `A whole number from 1 to ${COUNT_MAX}.`}
      />
    </div>
  );
}
