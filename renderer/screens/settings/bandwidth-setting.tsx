/** The bandwidth limit: how much, and at which hours, drawn over the day. */
import type { Settings } from '../../../engine/api/host/settings.ts';
import { Segmented } from '../../design/controls/choices.tsx';
import { Field, Select } from '../../design/controls/field.tsx';
import {
  formatTimeOfDay,
  joinRate,
  limitedSpans,
  parseTimeOfDay,
  type RateUnit,
  refuseAmount,
  splitRate,
} from './bandwidth.ts';
import type { SettingProps } from './setting-props.ts';
import { useTypedText } from './use-typed-text.ts';

const FIRST_LIMIT = 10 * 1024 ** 2;
const WORK_HOURS = { from: '08:00', to: '18:00' };
const MINUTES_OF_DAY = 1440;

type When = 'never' | 'always' | 'hours';

export function BandwidthSetting({ settings: { bandwidth }, set }: SettingProps) {
  const { limit, from, to } = bandwidth;
  const when: When = limit === null ? 'never' : from === undefined ? 'always' : 'hours';
  const choose = (next: When): void => {
    const kept = limit ?? FIRST_LIMIT;
    if (next === 'never') set({ bandwidth: { limit: null } });
    else if (next === 'always') set({ bandwidth: { limit: kept } });
    else set({ bandwidth: { limit: kept, ...WORK_HOURS } });
  };
  // Two fields can change before the screen is drawn again.
  const setPart = (part: Partial<Settings['bandwidth']>) =>
    set((now) => ({ bandwidth: { ...now.bandwidth, ...part } }));
  return (
    <div className="stack">
      <Segmented<When>
        label="When bandwidth is limited"
        value={when}
        onChange={choose}
        choices={[
          { id: 'never', label: 'No limit' },
          { id: 'always', label: 'All day' },
          { id: 'hours', label: 'At some hours' },
        ]}
      />
      {limit !== null && (
        <div className="bandwidth-fields">
          <Amount limit={limit} onLimit={(next) => setPart({ limit: next })} />
          {from !== undefined && to !== undefined && (
            <>
              <TimeField label="From" value={from} onTime={(next) => setPart({ from: next })} />
              <TimeField label="To" value={to} onTime={(next) => setPart({ to: next })} />
            </>
          )}
        </div>
      )}
      {when === 'hours' && <Day from={from} to={to} />}
    </div>
  );
}

function Amount({ limit, onLimit }: { readonly limit: number; readonly onLimit: (limit: number) => void }) {
  const { amount, unit } = splitRate(limit);
  const [text, setText] = useTypedText(String(amount));
  const typed = Number(text);
  const fault = refuseAmount(text, unit);
  const keep = (): void => {
    if (fault === undefined && typed !== amount) onLimit(joinRate(typed, unit));
  };
  return (
    <>
      <Field
        label="At most"
        value={text}
        onChange={setText}
        onBlur={keep}
        onKeyDown={(event) => event.key === 'Enter' && keep()}
        inputMode="decimal"
        error={fault}
      />
      <Select<RateUnit>
        label="Unit"
        value={unit}
        onChange={(next) => refuseAmount(text, next) === undefined && onLimit(joinRate(typed, next))}
        choices={(['KiB/s', 'MiB/s', 'GiB/s'] as const).map((id) => ({ id, label: id }))}
      />
    </>
  );
}

function TimeField({
  label,
  value,
  onTime,
}: {
  readonly label: string;
  readonly value: string;
  readonly onTime: (time: string) => void;
}) {
  const [text, setText] = useTypedText(value);
  const minutes = parseTimeOfDay(text);
  const keep = (): void => {
    if (minutes !== undefined && formatTimeOfDay(minutes) !== value) onTime(formatTimeOfDay(minutes));
  };
  return (
    <Field
      label={label}
      value={text}
      onChange={setText}
      onBlur={keep}
      onKeyDown={(event) => event.key === 'Enter' && keep()}
      placeholder="08:00"
      error={minutes === undefined ? 'As 08:00.' : undefined}
    />
  );
}

/** The day as a line, filled where the limit applies. */
function Day({ from, to }: { readonly from: string | undefined; readonly to: string | undefined }) {
  const spans = limitedSpans(parseTimeOfDay(from ?? ''), parseTimeOfDay(to ?? ''));
  const percent = (minutes: number): string => `${(minutes / MINUTES_OF_DAY) * 100}%`;
  return (
    <div className="day" role="img" aria-label={`Limited from ${from} to ${to}`}>
      <div className="day-line">
        {spans.map((span) => (
          <span
            key={span.from}
            className="day-span"
            style={{ left: percent(span.from), width: percent(span.to - span.from) }}
          />
        ))}
      </div>
      <div className="day-hours small faint">
        {['00', '06', '12', '18', '24'].map((hour) => (
          <span key={hour}>{hour}</span>
        ))}
      </div>
    </div>
  );
}
