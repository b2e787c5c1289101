/**
 * The requests that a window sends to the engine over a MessagePort or a WebSocket. Isomorphic and JSON-safe:
 * the renderer imports these types and nothing else of the engine.
 *
 * Every request has a name of `HostRequests`, an input and one answer. Some send events before it. A request
 * is stopped by its id.
 */
import type { ErrorRecord } from './error.ts';
import type { JobEvent } from './events.ts';
import type { BrowseRequests } from './host/browse.ts';
import type { ChangesRequests, ChoicesEvent, FolderEvent, PlanRequests } from './host/changes.ts';
import type { DragsRequests } from './host/drags.ts';
import type { FleetRequests, FleetView } from './host/fleet.ts';
import type { HistoryRequests, WalkEvent } from './host/history.ts';
import type { HomeRequests } from './host/home.ts';
import type { KeptRequests } from './host/kept.ts';
import type { PasswordsRequests } from './host/passwords.ts';
import type { KeysRequests, PeersRequests, RemotesRequests } from './host/remotes.ts';
import type { RepositoriesRequests, RepositoryEvent } from './host/repositories.ts';
import type { SavedJobList, SavedRequests } from './host/saved.ts';
import type { SettingsRequests } from './host/settings.ts';
import type { Transfer, TransfersRequests } from './host/transfers.ts';
import type { VersionsRequests } from './host/versions.ts';

export type ClientMessage =
  | { readonly do: 'ask'; readonly id: number; readonly name: HostRequestName; readonly input: unknown }
  | { readonly do: 'stop'; readonly id: number };

export type HostMessage =
  | { readonly is: 'events'; readonly id: number; readonly events: readonly HostEvent[] }
  | { readonly is: 'answer'; readonly id: number; readonly answer: unknown }
  | { readonly is: 'failed'; readonly id: number; readonly error: ErrorRecord };

/** Sent in batches, at most every 50 ms, with only the newest progress event of a batch. */
export type HostEvent =
  | JobEvent
  | RepositoryEvent
  | FolderEvent
  | ChoicesEvent
  | WalkEvent
  | { readonly type: 'transfers'; readonly transfers: readonly Transfer[] }
  | { readonly type: 'savedJobs'; readonly list: SavedJobList }
  | { readonly type: 'fleet'; readonly view: FleetView }
  /** A list of `browse.open` has grown. `total` is its new size. */
  | {
      readonly type: 'listing';
      readonly list: string;
      readonly total: number;
      /** True if the folder has a repository's descriptor. */
      readonly isRepository: boolean;
    };

export interface HostRequests
  extends HomeRequests,
    ChangesRequests,
    PlanRequests,
    KeptRequests,
    TransfersRequests,
    HistoryRequests,
    BrowseRequests,
    DragsRequests,
    RemotesRequests,
    KeysRequests,
    PeersRequests,
    PasswordsRequests,
    RepositoriesRequests,
    SavedRequests,
    FleetRequests,
    SettingsRequests,
    VersionsRequests {}

export type HostRequestName = keyof HostRequests;
export type InputOf<N extends HostRequestName> = HostRequests[N]['input'];
export type AnswerOf<N extends HostRequestName> = HostRequests[N]['answer'];
