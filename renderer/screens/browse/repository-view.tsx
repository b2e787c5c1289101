/** Shows a repository in a pane by its branches instead of its stored objects. */
import { GridList, GridListItem } from 'react-aria-components/GridList';
import type { AnswerOf } from '../../../engine/api/host.ts';
import { formatBytes, formatCount, formatPlural } from '../../../engine/api/text/numbers.ts';
import { Button, LinkButton } from '../../design/controls/button.tsx';
import { formatMoment } from '../../design/format.ts';
import { Icon } from '../../design/icon.tsx';
import { ContextMenu, keyOfRow } from '../../design/overlays/context-menu.tsx';
import type { MenuAction } from '../../design/overlays/menu.tsx';
import { Loading } from '../../design/states.tsx';
import { ErrorState } from '../../failures/failure.tsx';
import { useAsk } from '../../host/use-host.tsx';
import { hrefOf } from '../../route.ts';
import { copyText } from '../../shell/copy-text.ts';
import { addressOf, describeLocation, type Location, placeOf, repositoryName, versionOf } from './places.ts';

export interface RepositoryViewProps {
  readonly location: Location;
  readonly onShowObjects: () => void;
  /** Opens a version in the pane. */
  readonly onOpen: (version: Location) => void;
}

export function RepositoryView({ location, onOpen, onShowObjects }: RepositoryViewProps) {
  const place = placeOf(location);
  const { data, error, refetch } = useAsk('browse.repository', { place });
  const history = useHistoryLink(location);
  return (
    <section className="repository-view" aria-label={`Repository ${repositoryName(location)}`}>
      <div className="row">
        <Icon name="branch" />
        <h2 className="grow cut">{repositoryName(location)}</h2>
        <span className="small faint">Dray repository</span>
      </div>
      {error && (
        <ErrorState title="Cannot read the repository" error={error} onRetry={() => void refetch()} />
      )}
      {!data && !error && <Loading label="Reading the branches" />}
      {data && (
        <Branches
          repository={data}
          onOpen={(ref) => {
            const version = versionOf(repositoryAddress(location), ref);
            onOpen({ root: { ...version, above: location }, folder: '' });
          }}
        />
      )}
      <div className="row repository-actions">
        {history !== undefined ? (
          <LinkButton icon="history" href={history}>
            Open in History
          </LinkButton>
        ) : (
          <LinkButton
            icon="download"
            href={hrefOf('home', { add: 'yes', clone: repositoryAddress(location) })}
          >
            Clone
          </LinkButton>
        )}
        <Button look="quiet" onPress={onShowObjects}>
          Show the stored objects
        </Button>
      </div>
    </section>
  );
}

/** The counts of branches and tags, in the footer of the pane. */
export function RepositoryCounts({ location }: Pick<RepositoryViewProps, 'location'>) {
  const { data } = useAsk('browse.repository', { place: placeOf(location) });
  if (!data) return null;
  const { branchCount, tagCount } = data;
  const tags = tagCount === 0 ? '' : `, ${formatPlural(tagCount, 'tag')}`;
  return `${formatPlural(branchCount, 'branch', 'branches')}${tags}`;
}

interface BranchesProps {
  readonly repository: AnswerOf<'browse.repository'>;
  readonly onOpen: (ref: string) => void;
}

function Branches({ repository, onOpen }: BranchesProps) {
  const { branchCount, branches } = repository;
  if (branchCount === 0) return <p className="soft">Nothing has been pushed to it yet.</p>;
  return (
    <>
      <ContextMenu
        actionsAt={(element) => {
          const found = branches.find(({ name }) => name === keyOfRow(element));
          return found && { label: `For ${found.name}`, actions: branchActions(found, onOpen) };
        }}
      >
        <GridList
          className="repository-branches"
          aria-label="Branches"
          onAction={(name) => onOpen(String(name))}
        >
          {branches.map(({ author, bytes, commit, files, message, name, time }) => (
            <GridListItem key={name} id={name} textValue={name}>
              <div className="row">
                <strong className="grow cut">{name}</strong>
                <span>
                  {formatPlural(files, 'file')}, {formatBytes(bytes)}
                </span>
              </div>
              <div className="small faint cut">
                {commit.slice(0, 8)} by {author}, {formatMoment(time)}
                {message !== '' && `: ${message}`}
              </div>
            </GridListItem>
          ))}
        </GridList>
      </ContextMenu>
      {branchCount > branches.length && (
        <p className="faint">and {formatCount(branchCount - branches.length)} more branches</p>
      )}
    </>
  );
}

function repositoryAddress({ folder, root }: Location): string {
  return addressOf({ root, folder: '' }, folder.replace(/\/$/, ''));
}

function branchActions({ commit, name }: Branch, onOpen: BranchesProps['onOpen']): readonly MenuAction[] {
  return [
    { id: 'open', label: 'Open', icon: 'folder', onAction: () => onOpen(name) },
    { id: 'name', label: 'Copy its name', icon: 'copy', onAction: () => void copyText(name, 'the name') },
    {
      id: 'commit',
      label: "Copy the commit's hash",
      icon: 'copy',
      onAction: () => void copyText(commit, 'the hash'),
    },
  ];
}

type Branch = AnswerOf<'browse.repository'>['branches'][number];

/** The History of a workspace that has this repository as a remote. */
function useHistoryLink(location: Location): string | undefined {
  const { data } = useAsk('home.list', {}, { freshMs: 30_000 });
  const place = describeLocation(location).replace(/\/$/, '');
  const urls = new Set([place, placeOf(location).replace(/\/$/, '')]);
  const found = data?.workspaces.find(({ remotes }) =>
    remotes.some(
      ({ url }) =>
        urls.has(url.replace(/^file:\/\//, '').replace(/\/$/, '')) || urls.has(url.replace(/\/$/, '')),
    ),
  );
  return found && hrefOf('history', { workspace: found.root });
}
