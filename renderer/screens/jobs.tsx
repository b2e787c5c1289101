/** Saved jobs: what each does, when it runs, how it went, and its log. */
import './jobs/jobs.css';
import { lazy, type ReactNode, Suspense, useEffect, useState } from 'react';
import type { SavedJobCard, SavedJobList } from '../../engine/api/host/saved.ts';
import { formatPlural } from '../../engine/api/text/numbers.ts';
import { Button } from '../design/controls/button.tsx';
import { ConfirmDialog } from '../design/overlays/dialog.tsx';
import { Screen } from '../design/screen.tsx';
import { EmptyState, Loading, Notice } from '../design/states.tsx';
import { useSavedJobs } from '../host/saved-jobs.tsx';
import { leavePlace, replacePlace, useRoute } from '../route.ts';
import { JobItem } from './jobs/job-item.tsx';
import { JobLog } from './jobs/job-log.tsx';
import { JobMenu } from './jobs/job-menu.tsx';
import { type JobActions, useJobActions } from './jobs/use-job-actions.ts';

const JobDialog = lazy(async () => ({ default: (await import('./jobs/form/job-dialog.tsx')).JobDialog }));

export function JobsScreen() {
  const list = useSavedJobs();
  const jobs = list?.jobs ?? [];
  const actions = useJobActions();
  const [logOf, setLogOf] = useState<string>();
  const [asked, setAsked] = useState<{ readonly what: 'remove' | 'stop'; readonly name: string }>();
  const { given } = useRoute();
  const [form, setForm] = useState<OpenForm>();
  useEffect(() => {
    if (given.add === 'yes') setForm({ given });
  }, [given]);
  const handlersOf = (job: SavedJobCard) => ({
    onRun: () => void actions.run(job.name),
    onStop: () => setAsked({ what: 'stop', name: job.name }),
    onPause: (isPaused: boolean) => void actions.pause(job.name, isPaused),
    onLog: () => setLogOf(job.name),
    onEdit: () => setForm({ edits: job }),
    onRemove: () => setAsked({ what: 'remove', name: job.name }),
  });
  const door = (
    <Button icon="plus" look="primary" onPress={() => setForm({ given: {} })}>
      New job
    </Button>
  );
  const isEmpty = list !== undefined && jobs.length === 0 && list.problems.length === 0;
  return (
    <Screen
      title="Jobs"
      note={jobs.length > 0 ? formatPlural(jobs.length, 'job') : ''}
      actions={list && !isEmpty && door}
    >
      {!list && <Loading label="Reading your jobs" />}
      {list && <Problems list={list} />}
      {isEmpty && <NoJobs door={door} />}
      {jobs.length > 0 && (
        <JobMenu jobs={jobs} handlersOf={handlersOf}>
          <ul className="job-list">
            {jobs.map((job) => (
              <JobItem
                key={job.name}
                job={job}
                isStarted={list?.startedBy !== 'nobody'}
                {...handlersOf(job)}
              />
            ))}
          </ul>
        </JobMenu>
      )}
      {form && (
        <Suspense>
          <JobDialog
            {...form}
            jobs={jobs}
            onClose={() => {
              setForm(undefined);
              if (form.given?.add) leavePlace('jobs');
            }}
            onSaved={() => {
              setForm(undefined);
              if (form.given?.add) replacePlace('jobs');
            }}
          />
        </Suspense>
      )}
      {logOf !== undefined && <JobLog name={logOf} onClose={() => setLogOf(undefined)} />}
      {asked && <Question asked={asked} jobs={jobs} actions={actions} onClose={() => setAsked(undefined)} />}
    </Screen>
  );
}

type OpenForm =
  | { readonly given: Readonly<Record<string, string>>; readonly edits?: never }
  | { readonly edits: SavedJobCard; readonly given?: never };

function Question({
  asked: { name, what },
  jobs,
  actions,
  onClose,
}: {
  readonly asked: { readonly what: 'remove' | 'stop'; readonly name: string };
  readonly jobs: readonly SavedJobCard[];
  readonly actions: JobActions;
  readonly onClose: () => void;
}) {
  const isRunning = jobs.some((job) => job.name === name && job.state === 'running');
  if (what === 'stop')
    return (
      <ConfirmDialog
        title={`Stop ${name}?`}
        isOpen
        onClose={onClose}
        action="Stop"
        onConfirm={() => void actions.stop(name)}
      >
        Files that have arrived stay. The next run continues from there.
      </ConfirmDialog>
    );
  return (
    <ConfirmDialog
      title={`Remove ${name}?`}
      isOpen
      onClose={onClose}
      action="Remove"
      isDanger
      onConfirm={() => void actions.remove(name)}
    >
      {isRunning
        ? 'It is running now, and can be removed when it has ended.'
        : 'This removes the job and its log. Everything that it copied or pushed stays.'}
    </ConfirmDialog>
  );
}

function Problems({ list: { jobs, problems, startedBy } }: { readonly list: SavedJobList }) {
  const isWaiting = jobs.some(({ state, triggers }) => triggers.length > 0 && state !== 'paused');
  return (
    <div className="stack job-notices">
      {problems.map((problem) => (
        <Notice key={problem} tone="warning">
          {problem}
        </Notice>
      ))}
      {startedBy === 'nobody' && isWaiting && (
        <Notice tone="warning">
          No job starts by itself now: the schedule of this window has ended. Start Dray again.
        </Notice>
      )}
    </div>
  );
}

function NoJobs({ door }: { readonly door: ReactNode }) {
  return (
    <EmptyState icon="jobs" title="No jobs yet" actions={door}>
      A job is a copy, sync, check, push, pull or verify that you saved with its settings. It runs when you
      say so, by a schedule, when a folder changes, when a disk is mounted or when you log in. Jobs that you
      save at a command line are shown here, too.
    </EmptyState>
  );
}
