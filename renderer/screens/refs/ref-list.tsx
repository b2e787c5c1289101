/** Lists the branches and tags of a repository. A branch opens the switch dialog, a tag shows its commit. */
import { useState } from 'react';
import { GridList, GridListItem } from 'react-aria-components/GridList';
import type { RefRow } from '../../../engine/api/host/history.ts';
import { formatHash } from '../../../engine/api/text/numbers.ts';
import { Button, IconButton } from '../../design/controls/button.tsx';
import { Search } from '../../design/controls/field.tsx';
import { Icon } from '../../design/icon.tsx';
import { ContextMenu, keyOfRow } from '../../design/overlays/context-menu.tsx';
import { Menu } from '../../design/overlays/menu.tsx';
import { Loading } from '../../design/states.tsx';
import { ErrorNotice } from '../../failures/failure.tsx';
import { useAsk } from '../../host/use-host.tsx';
import { goTo } from '../../route.ts';
import { chooseWorkspace } from '../../shell/use-workspace.ts';
import { actionsOfRef, markCurrent, type RefMenu, type RefTask } from './ref-task.ts';
import { COMMITS_ASKED } from './version-picker.tsx';

const SHOWN_MAX = 200;

export interface RefListProps {
  readonly root: string;
  /** The current branch of the workspace. Undefined while it is unknown. */
  readonly branch: string | undefined;
  readonly onTask: (task: RefTask) => void;
  /** Called before the list opens another screen. */
  readonly onLeave: () => void;
}

export function RefList({ root, branch, onTask, onLeave }: RefListProps) {
  const [typed, setTyped] = useState('');
  const history = useAsk('history.list', { root, limit: COMMITS_ASKED }, { freshMs: 5_000 });
  const refs = markCurrent(history.data?.refs ?? [], branch);
  const wanted = typed.trim().toLowerCase();
  const found = refs.filter(({ name }) => name.toLowerCase().includes(wanted));
  const show = (given: Readonly<Record<string, string>>): void => {
    chooseWorkspace(root);
    onLeave();
    goTo('history', given);
  };
  const menu: RefMenu = { open: onTask, compare: (version) => show({ from: version, to: '@' }) };
  const choose = (ref: RefRow): void => {
    if (ref.kind === 'tag' || ref.isCurrent) show({ commit: ref.commit });
    else onTask({ do: 'switch', branch: ref.name });
  };
  const rows = found.slice(0, SHOWN_MAX).map((ref) => ({ id: `${ref.kind} ${ref.name}`, ref }));
  const rowAt = (key: string | undefined) => rows.find(({ id }) => id === key)?.ref;
  return (
    <>
      <div className="version-search">
        <Search label="Find a branch or a tag" value={typed} onChange={setTyped} autoFocus />
      </div>
      {history.isPending && <Loading label="Reading branches and tags" />}
      {history.error && <ErrorNotice error={history.error} onMended={() => void history.refetch()} />}
      {history.data && rows.length === 0 && (
        <p className="version-more">
          {wanted === '' ? 'No branches yet. The first push makes one.' : 'No branch or tag has this name.'}
        </p>
      )}
      {rows.length > 0 && (
        <ContextMenu
          actionsAt={(element) => {
            const ref = rowAt(keyOfRow(element));
            return ref && { label: `For ${ref.name}`, actions: actionsOfRef(ref, menu) };
          }}
        >
          <GridList
            className="menu version-list"
            aria-label="Branches and tags"
            items={rows}
            onAction={(key) => {
              const ref = rowAt(String(key));
              if (ref) choose(ref);
            }}
          >
            {({ id, ref }) => <RefItem id={id} refRow={ref} menu={menu} />}
          </GridList>
        </ContextMenu>
      )}
      {found.length > SHOWN_MAX && <p className="version-more">Type to find the others.</p>}
      <div className="ref-list-foot">
        <Button size="small" icon="branch" onPress={() => onTask({ do: 'new', kind: 'branch' })}>
          New branch
        </Button>
        <Button size="small" icon="tag" onPress={() => onTask({ do: 'new', kind: 'tag' })}>
          New tag
        </Button>
      </div>
    </>
  );
}

function RefItem({
  id,
  refRow,
  menu,
}: {
  readonly id: string;
  readonly refRow: RefRow;
  readonly menu: RefMenu;
}) {
  const { commit, isCurrent, kind, name } = refRow;
  return (
    <GridListItem id={id} className="menu-item ref-item" textValue={`${kind} ${name}`}>
      <Icon name={kind} />
      <span className="cut grow" title={name}>
        {name}
      </span>
      {isCurrent && <span className="small soft">current</span>}
      <span className="code small faint">{formatHash(commit)}</span>
      <Menu label={`More of ${name}`} actions={actionsOfRef(refRow, menu)}>
        <IconButton icon="more" label={`More of ${name}`} size="small" />
      </Menu>
    </GridListItem>
  );
}
