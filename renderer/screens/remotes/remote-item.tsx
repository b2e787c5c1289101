/** One remote: its address, its contents, and its actions. */

import { useState } from 'react';
import type { RemoteCard } from '../../../engine/api/host/remotes.ts';
import { formatBytes, formatPlural } from '../../../engine/api/text/numbers.ts';
import { Button, IconButton, LinkButton } from '../../design/controls/button.tsx';
import { Icon, type IconName } from '../../design/icon.tsx';
import { FailureText } from '../../failures/failure.tsx';
import { Remedy } from '../../failures/remedy.tsx';
import { useAsk } from '../../host/use-host.tsx';
import { hrefOf } from '../../route.ts';
import { decodeOrKeep } from '../place-form/place-fields.ts';

export interface RemoteItemProps {
  readonly remote: RemoteCard;
  readonly onTest: () => void;
  readonly onEdit: () => void;
  readonly onRemove: () => void;
}

export function RemoteItem({ remote, onTest, onEdit, onRemove }: RemoteItemProps) {
  const { name, url, of } = remote;
  const isUsers = of === 'user';
  const kind = kindOf(url);
  const [, ...parameters] = url.split(/[?&]/);
  return (
    <li className="card remote-card">
      <div className="row">
        <span className="card-icon">
          <Icon name={kind.icon} size={20} />
        </span>
        <div className="grow">
          <h2 className="cut">{name}</h2>
          <div className="small faint cut" title={isUsers ? undefined : of}>
            {isUsers ? kind.words : `${kind.words}, used by ${workspaceNameOf(remote)}`}
          </div>
        </div>
        {isUsers && (
          <>
            <IconButton icon="edit" size="small" label={`Edit ${name}`} onPress={onEdit} />
            <IconButton icon="trash" size="small" label={`Remove ${name}`} onPress={onRemove} />
          </>
        )}
      </div>
      <div className="grow">
        <div className="code remote-url">{addressOf(url)}</div>
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
        <LinkButton size="small" icon="browse" href={browseHrefOf(remote)}>
          Browse
        </LinkButton>
      </div>
    </li>
  );
}

/** Counted on request: listing everything takes requests, which cost money. */
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
        <span className="small remote-fault">
          <FailureText error={size.error} />{' '}
          <Remedy size="small" error={size.error} onMended={() => void size.refetch()} />
        </span>
      ) : isAsked ? (
        <span className="small faint">Counting</span>
      ) : (
        <Button size="small" look="quiet" onPress={() => setAsked(true)}>
          Count its contents
        </Button>
      )}
    </span>
  );
}

/** Without parameters; for a folder, its path. */
export function addressOf(url: string): string {
  const [address = ''] = url.split('?');
  return address.startsWith('file:///') ? decodeOrKeep(address.slice('file://'.length)) : address;
}

/** The last name of its folder. */
export function workspaceNameOf({ of }: RemoteCard): string {
  return of.split(/[\\/]/).at(-1) ?? of;
}

/** A user's remote is addressed by its name. Names of workspaces' remotes are not unique. */
export function browseHrefOf({ name, of, url }: RemoteCard): string {
  return hrefOf('browse', of === 'user' ? { remote: name } : { place: url });
}

export function kindOf(url: string): { readonly icon: IconName; readonly words: string } {
  if (url.startsWith('s3:')) return { icon: 'cloud', words: 'Bucket' };
  if (url.startsWith('dray:')) return { icon: 'transfers', words: 'Another machine' };
  return { icon: 'drive', words: 'Folder' };
}

function readable(parameter: string): string {
  const [name = '', value = ''] = parameter.split('=');
  return `${name} ${decodeOrKeep(value)}`;
}
