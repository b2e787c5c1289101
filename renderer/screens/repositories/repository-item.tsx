/** One repository: its figures, its growth, and its actions. */
import { useState } from 'react';
import type { RepositoryCard } from '../../../engine/api/host/repositories.ts';
import { formatBytes, formatCount, formatDollars, formatPlural } from '../../../engine/api/text/numbers.ts';
import { Ago } from '../../design/ago.tsx';
import { Badge } from '../../design/badge.tsx';
import { Figure, Figures } from '../../design/card.tsx';
import { Button, LinkButton } from '../../design/controls/button.tsx';
import { formatAgo } from '../../design/format.ts';
import { Icon } from '../../design/icon.tsx';
import { ErrorNotice } from '../../failures/failure.tsx';
import { hrefOf } from '../../route.ts';
import { RepairButton } from '../mend/mend-button.tsx';
import { PasswordsDialog } from '../passwords/passwords-dialog.tsx';
import { PRICE_NOT_KNOWN } from '../plan/price-words.ts';
import { addressOf, kindOf } from '../remotes/remote-item.tsx';
import { useStartVerify } from '../start-verify.ts';
import { GrowthPlot } from './growth-plot.tsx';
import { Space } from './space.tsx';
import { StoredSize } from './stored-size.tsx';

export interface RepositoryItemProps {
  readonly repository: RepositoryCard;
  readonly isAsking: boolean;
  readonly onLook: (commits?: number) => void;
  /** Takes the card with what was measured. */
  readonly onMeasured: (repository: RepositoryCard) => void;
}

/** The engine's limit for one request. */
const COMMITS_MAX = 10_000;

export function RepositoryItem({ repository, isAsking, onLook, onMeasured }: RepositoryItemProps) {
  const { answeredAt, branch, failure, growth, isEncrypted, knownAs, state, tip, url } = repository;
  const verify = useStartVerify();
  const [first] = knownAs;
  const name = first?.name ?? addressOf(url);
  const workspace = knownAs.find(({ of }) => of !== 'user')?.of;
  const [showsPasswords, setShowsPasswords] = useState(false);
  return (
    <li className="card repository">
      <header className="row repository-head">
        <span className="card-icon">
          <Icon name={kindOf(url).icon} size={20} />
        </span>
        <div className="grow">
          <h2 className="cut">{name}</h2>
          <div className="code small faint cut" title={addressOf(url)}>
            {addressOf(url)}
          </div>
        </div>
        {isAsking && <Badge>Asking</Badge>}
        {branch !== undefined && <Badge>{branch}</Badge>}
        {isEncrypted && workspace !== undefined && (
          <>
            <Badge>Encrypted</Badge>
            <Button size="small" onPress={() => setShowsPasswords(true)}>
              Passwords...<span className="unseen"> of {name}</span>
            </Button>
            {showsPasswords && (
              <PasswordsDialog name={name} root={workspace} onClose={() => setShowsPasswords(false)} />
            )}
          </>
        )}
        {workspace !== undefined && isDamaged(repository) && <RepairButton name={name} root={workspace} />}
        {workspace !== undefined && tip && (
          <Button size="small" icon="search" onPress={() => verify({ name, root: workspace })}>
            Verify
          </Button>
        )}
        {workspace === undefined ? (
          <LinkButton size="small" icon="browse" href={hrefOf('browse', { remote: name })}>
            Browse
          </LinkButton>
        ) : (
          <LinkButton size="small" icon="history" href={hrefOf('history', { workspace })}>
            History
          </LinkButton>
        )}
      </header>
      {failure && (
        <ErrorNotice
          tone="warning"
          error={failure}
          lead={
            answeredAt === undefined
              ? 'It has not answered yet.'
              : `These figures are from its last answer, ${formatAgo(answeredAt)}.`
          }
          onMended={() => onLook()}
          actions={
            <Button size="small" icon="refresh" onPress={() => onLook()}>
              Ask again
            </Button>
          }
        />
      )}
      {state === 'empty' && <p className="faint">Nothing has been pushed here yet.</p>}
      {(state === 'unknown' || state === 'none') && !failure && (
        <p className="faint">
          {isAsking ? 'Waiting for its first answer.' : 'Nothing has been pushed here yet.'}
        </p>
      )}
      {tip && (
        <div className="repository-facts">
          <Figures>
            <Figure
              label="Newest version"
              value={formatBytes(tip.bytes)}
              note={formatPlural(tip.files, 'file')}
            />
            <StoredSize repository={repository} onMeasured={onMeasured} />
            <Figure label="Cost a month" {...costWords(repository)} />
            <Figure label="Last push" value={<Ago moment={tip.time} />} note={<Author of={tip.author} />} />
            <Figure label="Last verified" {...verifiedWords(repository)} />
          </Figures>
          {workspace !== undefined && (
            <Space
              repository={repository}
              name={name}
              root={workspace}
              onCard={onMeasured}
              onForgot={onLook}
            />
          )}
          <GrowthPlot name={name} growth={growth} />
          {!growth.isWhole && (
            <div className="row small faint">
              <span>
                Read {formatPlural(growth.commitsRead, 'commit')} so far; older ones are not read yet.
              </span>
              <Button size="small" isPending={isAsking} onPress={() => onLook(COMMITS_MAX)}>
                Read older commits
              </Button>
            </div>
          )}
        </div>
      )}
    </li>
  );
}

function Author({ of }: { readonly of: string }) {
  return (
    <div className="cut" title={of}>
      {of}
    </div>
  );
}

function costWords({ cost }: RepositoryCard) {
  const { basis, requestDollars, storageDollars } = cost;
  const requests = requestDollars > 0 ? ` and ${formatDollars(requestDollars)} of requests this month` : '';
  if (storageDollars === undefined)
    return { value: PRICE_NOT_KNOWN, note: `no price known for this store${requests}` };
  if (storageDollars === 0) return { value: '$0', note: `your own disk${requests}` };
  const of = basis === 'stored' ? 'all stored bytes' : 'the newest version only';
  return { value: formatDollars(storageDollars + requestDollars), note: `for ${of}${requests}` };
}

function isDamaged({ verified }: RepositoryCard): boolean {
  return verified !== undefined && verified.missing + verified.damaged > 0;
}

function verifiedWords({ verified }: RepositoryCard) {
  if (!verified) return { value: 'Never', note: 'not from this computer' };
  const { at, damaged, missing, readDataPercent, ref } = verified;
  const scope = ref === undefined ? '' : `, only ${ref}`;
  const how = readDataPercent === undefined ? 'existence and sizes' : `${readDataPercent} % of the content`;
  const found = [
    ...(missing > 0 ? [`${formatCount(missing)} missing`] : []),
    ...(damaged > 0 ? [`${formatCount(damaged)} damaged`] : []),
  ].join(', ');
  return {
    value: <Ago moment={at} />,
    note:
      found === '' ? (
        `${how}${scope}`
      ) : (
        <span className="repository-fault">
          {found}
          {scope}
        </span>
      ),
  };
}
