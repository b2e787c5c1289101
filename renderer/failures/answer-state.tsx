import type { UseQueryResult } from '@tanstack/react-query';
import { Loading } from '../design/states.tsx';
import type { Failed } from './failed.ts';
import { ErrorState } from './failure.tsx';

export interface AnswerStateProps {
  readonly of: Pick<UseQueryResult<unknown, Failed>, 'error' | 'isFetching' | 'isPending' | 'refetch'>;
  /** The activity to show until the answer arrives, such as `Reading the history`. */
  readonly label: string;
  /** Names what failed: `Cannot read the history`. */
  readonly title: string;
  /** An earlier answer does not count, because the folder may have changed since. */
  readonly isAnew?: boolean;
}

/** Stands for an answer that is not there yet, or that failed, with a button to ask again. */
export function AnswerState({ of, label, title, isAnew = false }: AnswerStateProps) {
  if (isAnew ? of.isFetching : of.isPending) return <Loading label={label} />;
  return of.error && <ErrorState title={title} error={of.error} onRetry={() => void of.refetch()} />;
}
