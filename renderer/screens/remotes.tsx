/** The places for your data: list, test, add, and import from other programs. */
import './remotes/remotes.css';
import { useEffect, useState } from 'react';
import type { ImportCandidate, RemoteCard } from '../../engine/api/host/remotes.ts';
import { formatPlural } from '../../engine/api/text/numbers.ts';
import { Button } from '../design/controls/button.tsx';
import { Dialog } from '../design/overlays/dialog.tsx';
import { Screen } from '../design/screen.tsx';
import { EmptyState } from '../design/states.tsx';
import { AnswerState } from '../failures/answer-state.tsx';
import { useKeyKeeper } from '../host/key-keeper.ts';
import { useAsk, useHost, useRefresh } from '../host/use-host.tsx';
import { goTo, useRoute } from '../route.ts';
import { showFailure, showToast } from '../shell/toasts/toasts.tsx';
import { EMPTY_PLACE, fieldsOf, type PlaceFields } from './place-form/place-fields.ts';
import { ImportDialog } from './remotes/import-dialog.tsx';
import { RemoteDialog } from './remotes/remote-dialog.tsx';
import { RemoteItem } from './remotes/remote-item.tsx';
import { TryRemote } from './remotes/try-remote.tsx';
import { UsageByMonth } from './remotes/usage-by-month.tsx';

export function RemotesScreen() {
  const listed = useAsk('remotes.list', {});
  const { given } = useRoute();
  const [adding, setAdding] = useState<PlaceFields>();
  const [editing, setEditing] = useState<RemoteCard>();
  useEffect(() => {
    if (given.add === 'yes') setAdding(EMPTY_PLACE);
  }, [given.add]);
  const [isImporting, setImporting] = useState(false);
  const [testing, setTesting] = useState<RemoteCard>();
  const remotes = listed.data?.remotes;
  const remove = useRemove();
  const names = remotes?.filter(({ of }) => of === 'user').map(({ name }) => name) ?? [];
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
      {!remotes && <AnswerState of={listed} label="Reading your remotes" title="Cannot read your remotes" />}
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
            onEdit={() => setEditing(remote)}
            onRemove={() => void remove(remote)}
          />
        ))}
      </ul>
      <UsageByMonth />
      {adding && (
        <RemoteDialog
          start={adding}
          taken={new Set(names)}
          onClose={() => {
            setAdding(undefined);
            goTo('remotes');
          }}
        />
      )}
      {editing && (
        <RemoteDialog
          start={fieldsOf(editing.name, editing.url)}
          edits={editing.name}
          taken={new Set(names.filter((name) => name !== editing.name))}
          onClose={() => setEditing(undefined)}
        />
      )}
      {isImporting && <ImportDialog onClose={() => setImporting(false)} onTake={take} />}
      {testing && (
        <Dialog title={`Test of ${testing.name}`} isOpen onClose={() => setTesting(undefined)}>
          <TryRemote target={testing.url} />
        </Dialog>
      )}
    </Screen>
  );
}

/**
 * Removes a remote, and offers to take it back. The keys that were typed for it go once that offer has gone,
 * unless another remote uses them.
 */
function useRemove() {
  const host = useHost();
  const refresh = useRefresh();
  const keeper = useKeyKeeper();
  const restore = async (remote: RemoteCard): Promise<void> => {
    try {
      await host.ask('remotes.add', { name: remote.name, url: remote.url });
      await refresh('remotes.list');
    } catch (error) {
      showFailure(`${remote.name} was not taken back`, error);
    }
  };
  const forgetKeys = async ({ name, url }: RemoteCard): Promise<void> => {
    const { profile } = fieldsOf(name, url);
    const { remotes } = await host.ask('remotes.list', {});
    const isUsed = remotes.some((other) => fieldsOf(other.name, other.url).profile === profile);
    if (!isUsed && keeper.state?.profiles.includes(profile)) await keeper.keep(profile);
  };
  return async (remote: RemoteCard): Promise<void> => {
    try {
      await host.ask('remotes.remove', { name: remote.name });
      await refresh('remotes.list');
    } catch (error) {
      showFailure(`${remote.name} was not removed`, error);
      return;
    }
    showToast({
      tone: 'info',
      title: `${remote.name} is removed`,
      text: 'The stored data stays.',
      action: { label: 'Undo', onPress: () => void restore(remote) },
      onGone: () => {
        forgetKeys(remote).catch((error: unknown) => showFailure('Its keys were not removed', error));
      },
    });
  };
}
