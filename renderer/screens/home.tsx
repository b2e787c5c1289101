/** The workspaces and remotes of this computer. A first start leads to the first push. */
import './home/home.css';
import { useState } from 'react';
import { Link as AriaLink } from 'react-aria-components/Link';
import { Button, LinkButton } from '../design/controls/button.tsx';
import { Icon } from '../design/icon.tsx';
import { Screen } from '../design/screen.tsx';
import { Loading } from '../design/states.tsx';
import { ErrorState } from '../failures/failure.tsx';
import { useAsk, useHost, useRefresh } from '../host/use-host.tsx';
import { goTo, hrefOf, useRoute } from '../route.ts';
import { showFailure } from '../shell/toasts/toasts.tsx';
import { StartSteps } from './home/start-steps.tsx';
import { WorkspacePanel } from './home/workspace-panel.tsx';
import { addressOf, browseHrefOf, kindOf, workspaceNameOf } from './remotes/remote-item.tsx';

export function HomeScreen() {
  const { given } = useRoute();
  const { data, error, refetch } = useAsk('home.list', {});
  const workspaces = data?.workspaces;
  // The steps that have made the first workspace lead on to its push.
  const [isFirstUnderWay, setFirstUnderWay] = useState(false);
  if (!workspaces)
    return (
      <Screen title="Home" isFull>
        {error ? (
          <ErrorState title="Cannot read the workspaces" error={error} onRetry={refetch} />
        ) : (
          <Loading label="Loading workspaces" />
        )}
      </Screen>
    );
  if (given.add === 'yes')
    return (
      <Screen title="Add a workspace">
        <StartSteps key={given.clone} clone={given.clone} onLeave={() => goTo('home')} />
      </Screen>
    );
  if (workspaces.length === 0 || isFirstUnderWay)
    return (
      <Screen title="Welcome to Dray">
        <p className="home-lead">
          Keep every version of a folder, however large, in storage of your own. It takes three steps, and
          nothing leaves this computer before you press Push.
        </p>
        <StartSteps isFirst onUnderWay={setFirstUnderWay} onLeave={() => setFirstUnderWay(false)} />
      </Screen>
    );
  return (
    <Screen
      title="Home"
      actions={
        <div className="row">
          <LookButton />
          <Button icon="plus" onPress={() => goTo('home', { add: 'yes' })}>
            Add a workspace
          </Button>
        </div>
      }
    >
      <ul className="home-grid">
        {workspaces.map((workspace) => (
          <li key={workspace.root} className="home-cell">
            <WorkspacePanel workspace={workspace} />
          </li>
        ))}
      </ul>
      <Remotes />
    </Screen>
  );
}

/** Checks now, regardless of the settings and of the last check. */
function LookButton() {
  const host = useHost();
  const refresh = useRefresh();
  const [isBusy, setBusy] = useState(false);
  const look = async (): Promise<void> => {
    setBusy(true);
    try {
      await host.ask('home.look', { maxAgeMs: 0, isAsked: true });
      await refresh('home.look', 'changes.status');
    } catch (error) {
      showFailure('The remotes could not be asked', error);
    } finally {
      setBusy(false);
    }
  };
  return (
    <Button icon="refresh" isPending={isBusy} onPress={() => void look()}>
      Check for changes
    </Button>
  );
}

function Remotes() {
  const { data } = useAsk('remotes.list', {}, { freshMs: 5_000 });
  if (!data || data.remotes.length === 0) return null;
  return (
    <section className="home-remotes" aria-labelledby="home-remotes">
      <header className="row">
        <h2 id="home-remotes" className="grow">
          Remotes
        </h2>
        <LinkButton href={hrefOf('remotes')} look="quiet" size="small">
          All of them
        </LinkButton>
      </header>
      <ul className="home-grid home-grid-small">
        {data.remotes.map((remote) => (
          <li key={`${remote.of} ${remote.name}`}>
            <AriaLink href={browseHrefOf(remote)} className="card home-remote">
              <Icon name={kindOf(remote.url).icon} size={20} />
              <span className="grow">
                <strong className="cut home-line">
                  {remote.name}
                  {remote.of !== 'user' && <span className="faint"> of {workspaceNameOf(remote)}</span>}
                </strong>
                <span className="cut home-line faint small" title={remote.url}>
                  {addressOf(remote.url)}
                </span>
              </span>
            </AriaLink>
          </li>
        ))}
      </ul>
    </section>
  );
}
