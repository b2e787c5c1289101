/** Which of the stored objects a verification reads. Pure, but for the randomness of the clock. */
import { SAMPLE_DAYS, type VerifyRequest, type VerifySample } from '../../../api/jobs/jobs.ts';
import type { Clock } from '../../../base/clock.ts';
import type { RemoteKey } from '../../../remotes/object-store.ts';

export type DataChoice = { readonly kind: 'percent'; readonly percent: number } | ChosenSample;
type ChosenSample = Exclude<VerifySample, { readonly kind: 'today' }>;

export interface StoredSize {
  readonly key: RemoteKey;
  readonly sizeBytes: number;
}

const DAY_MS = 24 * 60 * 60 * 1_000;
/** So many digits of a name are random enough to cut parts by. */
const NAME_DIGITS = 12;

/** Undefined: nothing is read. */
export function dataChoiceOf(
  { readDataPercent, sample }: VerifyRequest,
  clock: Pick<Clock, 'nowMs'>,
): DataChoice | undefined {
  if (sample?.kind === 'today') {
    const day = Math.floor(clock.nowMs() / DAY_MS);
    return { kind: 'part', part: (day % SAMPLE_DAYS) + 1, of: SAMPLE_DAYS };
  }
  return (
    sample ?? (readDataPercent === undefined ? undefined : { kind: 'percent', percent: readDataPercent })
  );
}

export function chooseData(
  stored: readonly StoredSize[],
  choice: DataChoice,
  clock: Pick<Clock, 'random'>,
): readonly RemoteKey[] {
  switch (choice.kind) {
    case 'percent':
      return keysOf(stored.filter(() => choice.percent >= 100 || clock.random() * 100 < choice.percent));
    case 'part':
      return keysOf(stored.filter(({ key }) => numberOf(key) % choice.of === choice.part - 1));
    case 'objects':
      return keysOf(shuffled(stored, clock).slice(0, choice.count));
    case 'bytes': {
      let left = choice.bytes;
      const fitting = shuffled(stored, clock).filter(({ sizeBytes }, at) => {
        if (at > 0 && sizeBytes > left) return false;
        left -= sizeBytes;
        return true;
      });
      return keysOf(fitting);
    }
  }
}

function keysOf(stored: readonly StoredSize[]): readonly RemoteKey[] {
  return stored.map(({ key }) => key);
}

function numberOf(key: RemoteKey): number {
  return Number.parseInt(nameIn(key).slice(0, NAME_DIGITS), 16);
}

/** Fisher and Yates. */
function shuffled(stored: readonly StoredSize[], { random }: Pick<Clock, 'random'>): StoredSize[] {
  const mixed = [...stored];
  for (let end = mixed.length - 1; end > 0; end -= 1) {
    const at = Math.floor(random() * (end + 1));
    [mixed[at], mixed[end]] = [mixed[end]!, mixed[at]!];
  }
  return mixed;
}

/** The SHA-256 that the key says, without the generation of an object. */
export function nameIn(key: RemoteKey): string {
  const [, fanout, rest] = key.split('/');
  return `${fanout}${rest!.slice(0, 62)}`;
}
