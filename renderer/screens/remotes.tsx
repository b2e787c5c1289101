/** The places that one's data can go to: looked at, tested, added, taken over from other programs. */
import './remotes.css';
import { useEffect, useState } from 'react';
import type { ImportCandidate, RemoteCard } from '../../engine/api/host.ts';
import { Badge } from '../design/badge.tsx';
import { Button, IconButton, LinkButton } from '../design/button.tsx';
import { ConfirmDialog, Dialog } from '../design/dialog.tsx';
import { formatBytes, formatPlural } from '../design/format.ts';
import { Icon, type IconName } from '../design/icon.tsx';
import { Screen } from '../design/screen.tsx';
import { EmptyState, ErrorState, Loading } from '../design/states.tsx';
import { useAsk, useDo } from '../host/use-host.tsx';
import { goTo, hrefOf, useRoute } from '../route.ts';
import { showFailure } from '../shell/toasts.tsx';
import { AddRemoteDialog } from './remotes/add-remote-dialog.tsx';
import { ImportDialog } from './remotes/import-dialog.tsx';
import { RemoteTest } from './remotes/remote-test.tsx';
import { EMPTY_FIELDS, fieldsOf, type RemoteFields } from './remotes/url-form.ts';
import { UsageByMonth } from './remotes/usage-by-month.tsx';

export function RemotesScreen() {
  const listed = useAsk('remotes.list', {});
  const remove = useDo('remotes.remove', { refreshes: ['remotes.list'] });
  const { given } = useRoute();
  const [adding, setAdding] = useState<RemoteFields>();
  useEffect(() => {
    if (given.add === 'yes') setAdding(EMPTY_FIELDS);
  }, [given.add]);
  const [isImporting, setImporting] = useState(false);
  const [removing, setRemoving] = useState<RemoteCard>();
  const [testing, setTesting] = useState<RemoteCard>();
  const remotes = listed.data?.remotes;
  const add = (): void => setAdding(EMPTY_FIELDS);
  const take = ({ name, url }: ImportCandidate): void => {
    setImporting(false);
    setAdding(fieldsOf(name, url));
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
          title="Your remotes cannot be read"
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
          const { name } = removing;
          remove.mutate({ name }, { onError: (error) => showFailure(`${name} is still there`, error) });
        }}
      >
        Only its name and address are forgotten here. What is stored there stays.
      </ConfirmDialog>
    </Screen>
  );
}

interface RemoteItemProps {
  readonly remote: RemoteCard;
  readonly onTest: () => void;
  readonly onRemove: () => void;
}

function RemoteItem({ remote, onTest, onRemove }: RemoteItemProps) {
  const { name, url, of } = remote;
  const isUsers = of === 'user';
  const kind = kindOf(url);
  const [address, ...parameters] = url.split(/[?&]/);
  return (
    <li className="card remote-card">
      <div className="row">
        <span className="remote-icon">
          <Icon name={kind.icon} size={20} />
        </span>
        <div className="grow">
          <h2 className="cut">{name}</h2>
          <div className="small faint">{kind.words}</div>
        </div>
        {!isUsers && <Badge>{of.split(/[\\/]/).at(-1)}</Badge>}
        {isUsers && <IconButton icon="trash" size="small" label={`Forget ${name}`} onPress={onRemove} />}
      </div>
      <div>
        <div className="code remote-url">{address}</div>
        <ul className="remote-parameters small faint">
          {parameters.map((parameter) => (
            <li key={parameter}>{readable(parameter)}</li>
          ))}
        </ul>
      </div>
      <div className="remote-foot">
        <Usage place={isUsers ? `${name}:` : url} />
        <Button size="small" icon="check" onPress={onTest}>
          Test
        </Button>
        <LinkButton size="small" icon="browse" href={hrefOf('browse', { remote: name })}>
          Browse
        </LinkButton>
      </div>
    </li>
  );
}

/** Counted when it is asked for: a listing of all that is there takes requests, which cost. */
function Usage({ place }: { readonly place: string }) {
  const [isAsked, setAsked] = useState(false);
  const size = useAsk('browse.size', { place }, { when: isAsked, freshMs: 600_000 });
  if (size.data) {
    return (
      <span className="grow remote-usage">
        <strong>{formatBytes(size.data.bytes)}</strong>{' '}
        <span className="small faint">{formatPlural(size.data.files, 'object')}</span>
      </span>
    );
  }
  return (
    <span className="grow">
      {isAsked && size.error ? (
        <span className="small remote-fault">{size.error.message}</span>
      ) : isAsked ? (
        <span className="small faint">Counting</span>
      ) : (
        <Button size="small" look="quiet" onPress={() => setAsked(true)}>
          Count usage
        </Button>
      )}
    </span>
  );
}

function kindOf(url: string): { readonly icon: IconName; readonly words: string } {
  if (url.startsWith('s3:')) return { icon: 'cloud', words: 'Bucket' };
  if (url.startsWith('dray:')) return { icon: 'transfers', words: 'Another machine' };
  return { icon: 'drive', words: 'Folder' };
}

function readable(parameter: string): string {
  const [name = '', value = ''] = parameter.split('=');
  try {
    return `${name} ${decodeURIComponent(value)}`;
  } catch {
    return `${name} ${value}`;
  }
}
