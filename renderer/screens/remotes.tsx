/** The places for your data: list, test, add, and import from other programs. */
import './remotes.css';
import { useEffect, useState } from 'react';
import type { ImportCandidate, RemoteCard } from '../../engine/api/host/remotes.ts';
import { formatPlural } from '../../engine/api/numbers.ts';
import { Button } from '../design/button.tsx';
import { ConfirmDialog, Dialog } from '../design/dialog.tsx';
import { Screen } from '../design/screen.tsx';
import { EmptyState, Loading } from '../design/states.tsx';
import { ErrorState } from '../failures/failure.tsx';
import { useKeyKeeper } from '../host/key-keeper.ts';
import { useAsk, useDo } from '../host/use-host.tsx';
import { goTo, useRoute } from '../route.ts';
import { showFailure } from '../shell/toasts.tsx';
import { EMPTY_PLACE, fieldsOf, type PlaceFields } from './place-form/place-fields.ts';
import { AddRemoteDialog } from './remotes/add-remote-dialog.tsx';
import { ImportDialog } from './remotes/import-dialog.tsx';
import { RemoteItem } from './remotes/remote-item.tsx';
import { RemoteTest } from './remotes/remote-test.tsx';
import { UsageByMonth } from './remotes/usage-by-month.tsx';

export function RemotesScreen() {
  const listed = useAsk('remotes.list', {});
  const { given } = useRoute();
  const [adding, setAdding] = useState<PlaceFields>();
  useEffect(() => {
    if (given.add === 'yes') setAdding(EMPTY_PLACE);
  }, [given.add]);
  const [isImporting, setImporting] = useState(false);
  const [removing, setRemoving] = useState<RemoteCard>();
  const [testing, setTesting] = useState<RemoteCard>();
  const remotes = listed.data?.remotes;
  const forget = useForget(remotes);
  const add = (): void => setAdding(EMPTY_PLACE);
  const take = ({ name, url }: ImportCandidate): void => {
    setImporting(false);
    setAdding(fieldsOf(name.replace(/[^A-Za-z0-9._-]+/g, '-'), url));
  };
  const doors = (
    <>
      <Button icon="download" onPress={() => setImporting(true)}>
        Import
      </Button>
      <Button icon="plus" look="primary" onPress={add}>
        Add remote
      </Button>
    </>
  );
  return (
    <Screen
      title="Remotes"
      note={remotes && remotes.length > 0 ? formatPlural(remotes.length, 'remote') : ''}
      actions={remotes && remotes.length > 0 && <div className="row">{doors}</div>}
    >
      {listed.isPending && <Loading label="Reading your remotes" />}
      {listed.error && !remotes && (
        <ErrorState
          title="Cannot read your remotes"
          error={listed.error}
          onRetry={() => void listed.refetch()}
        />
      )}
      {remotes?.length === 0 && (
        <EmptyState icon="remotes" title="No remotes yet" actions={doors}>
          A remote is a place for your data: a bucket, another machine, or a folder, which needs no account at
          all.
        </EmptyState>
      )}
      <ul className="remote-cards">
        {remotes?.map((remote) => (
          <RemoteItem
            key={`${remote.of} ${remote.name}`}
            remote={remote}
            onTest={() => setTesting(remote)}
            onRemove={() => setRemoving(remote)}
          />
        ))}
      </ul>
      <UsageByMonth />
      {adding && (
        <AddRemoteDialog
          start={adding}
          taken={new Set(remotes?.filter(({ of }) => of === 'user').map(({ name }) => name))}
          onClose={() => {
            setAdding(undefined);
            goTo('remotes');
          }}
        />
      )}
      {isImporting && <ImportDialog onClose={() => setImporting(false)} onTake={take} />}
      {testing && (
        <Dialog title={`Test of ${testing.name}`} isOpen onClose={() => setTesting(undefined)}>
          <RemoteTest target={testing.url} />
        </Dialog>
      )}
      <ConfirmDialog
        title={`Forget ${removing?.name ?? ''}?`}
        isOpen={removing !== undefined}
        onClose={() => setRemoving(undefined)}
        action="Forget it"
        isDanger
        onConfirm={() => {
          if (removing === undefined) return;
          void forget(removing);
        }}
      >
        This removes its name, its address and keys that you typed for it. The stored data stays.
      </ConfirmDialog>
    </Screen>
  );
}

/** Removes a remote, with the keys that were typed for it unless another remote uses them too. */
function useForget(remotes: readonly RemoteCard[] | undefined) {
  const remove = useDo('remotes.remove', { refreshes: ['remotes.list'] });
  const keeper = useKeyKeeper();
  return async ({ name, url }: RemoteCard): Promise<void> => {
    const profile = fieldsOf(name, url).profile;
    const others = remotes?.filter((other) => other.url !== url) ?? [];
    try {
      await remove.mutateAsync({ name });
      if (keeper.state?.profiles.includes(profile) && !others.some((other) => usesProfile(other, profile)))
        await keeper.keep(profile);
    } catch (error) {
      showFailure(`${name} was not removed`, error);
    }
  };
}

function usesProfile({ name, url }: RemoteCard, profile: string): boolean {
  return fieldsOf(name, url).profile === profile;
}
