/**
 * The desktop app, wired together: passes Electron's events to the parts that handle them. Each part is
 * tested by itself, and all together with a faithful fake of Electron.
 */
import { join } from 'node:path';
import type { MessageBoxOptions } from 'electron';
import type { DrayError } from '../../engine/api/error.ts';
import type { Transfer } from '../../engine/api/host/transfers.ts';
import { type Ending, findEndings } from '../../engine/api/text/transfer-endings.ts';
import type { OpenHost, OpenHostOptions } from '../../engine/host/open-host.ts';
import { describeDeepLink, findDeepLink, hashOf, parseDeepLink } from './deep-link.ts';
import type { ElectronParts } from './electron-parts.ts';
import { type EngineHost, openEngineHost } from './engine-host.ts';
import { HIDDEN_ARGUMENT, isOpenedAtLogin, loginItem } from './login-item.ts';
import { notify } from './notify.ts';
import { registerOwnScheme, serveOwnScheme } from './own-protocol.ts';
import { answerOwnQuestions } from './own-questions.ts';
import { denyPermissions } from './permissions.ts';
import { progressOf, showProgress } from './progress.ts';
import { drayUtility } from './run-dray.ts';
import { openSecrets } from './secrets.ts';
import { createMainWindow, type MainWindow } from './window/main-window.ts';
import { menuTemplate } from './window/menu.ts';
import { confineNavigation } from './window/navigation.ts';
import { createTransferTray, type TransferTray } from './window/tray.ts';
import { createWork, type Work } from './work.ts';

const LINK_SCHEME = 'dray';
/**
 * Windows identifies the app by this in notifications and the taskbar. Must equal `appId` of
 * electron-builder.yml.
 */
const APP_ID = 'dev.dray.desktop';

export interface DesktopFacts {
  readonly platform: NodeJS.Platform;
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly argv: readonly string[];
  readonly program: string;
  /** The folder of the built window. */
  readonly windowFolder: string;
  readonly preloadPath: string;
  /** The module that runs `dray` for saved jobs. */
  readonly jobProcessPath: string;
  readonly iconPath: string;
  readonly trayIconPath: string;
  readonly openHost: (options: OpenHostOptions) => OpenHost;
}

/** @returns True once the window shows; false if another Dray already runs and got this start's request. */
export async function startDesktop(electron: ElectronParts, facts: DesktopFacts): Promise<boolean> {
  const { app } = electron;
  if (!app.requestSingleInstanceLock()) {
    app.quit();
    return false;
  }
  // Enables the sandbox for every page, even one that forgets to ask for it.
  app.enableSandbox();
  app.setAppUserModelId(APP_ID);
  registerOwnScheme(electron);
  confineNavigation(electron);
  if (app.isPackaged) app.setAsDefaultProtocolClient(LINK_SCHEME);

  // A link may arrive before the window exists.
  let open: (link: string) => void = (link) => early.push(link);
  const early: string[] = [];
  app.on('open-url', (event, url) => {
    event.preventDefault();
    open(url);
  });
  await app.whenReady();
  const desktop = await openDesktop(electron, facts);
  open = desktop.openLink;
  if (!facts.argv.includes(HIDDEN_ARGUMENT)) desktop.window.show();
  const given = findDeepLink(facts.argv);
  for (const link of given === undefined ? early : [...early, given]) open(link);
  return true;
}

interface Desktop {
  readonly window: MainWindow;
  readonly openLink: (link: string) => void;
}

async function openDesktop(electron: ElectronParts, facts: DesktopFacts): Promise<Desktop> {
  const { app, session } = electron;
  denyPermissions(session.defaultSession);
  serveOwnScheme(electron, facts.windowFolder);
  const userData = app.getPath('userData');
  const secrets = openSecrets(electron, { path: join(userData, 'secrets.json'), platform: facts.platform });
  const work = createWork();
  const noticeClosing = createClosingNotice(electron, facts, work);

  const window = createMainWindow(electron, {
    preloadPath: facts.preloadPath,
    statePath: join(userData, 'window.json'),
    iconPath: facts.iconPath,
    isDevelopment: !app.isPackaged,
    onClosed: () => noticeClosing(window.show),
  });

  const tray: TransferTray = createTransferTray(electron, facts.trayIconPath, {
    show: window.show,
    pauseAll: () => void engine.ask('transfers.change', { ids: 'all', action: 'pause' }).catch(() => {}),
    quit: () => app.quit(),
  });
  /** @returns The list before this one; undefined at first. */
  const updateTransfers = (now: readonly Transfer[]): readonly Transfer[] | undefined => {
    const before = work.updateTransfers(now);
    const progress = progressOf(now);
    showProgress(electron, window.current(), progress);
    tray.update(progress);
    return before;
  };
  const quitWhenIdle = () => {
    if (facts.platform !== 'darwin' && !window.current() && work.mayQuit()) app.quit();
  };

  const engine: EngineHost = await openEngineHost(electron, {
    openHost: facts.openHost,
    environment: () => secrets.environmentOver(facts.environment),
    runDray: drayUtility(electron, facts.jobProcessPath),
    isLogin: isOpenedAtLogin(electron, facts.argv),
    onCrash: (error, isGivenUp) => {
      if (isGivenUp) {
        updateTransfers([]);
        work.forget();
        tray.showJobs({ waiting: 0, running: 0 });
      }
      showCrash(electron, window, error, isGivenUp ? () => engine : undefined);
    },
    onJobs: (list) => {
      const { counts, endings } = work.updateJobs(list);
      tray.showJobs(counts);
      void notifyEnded(electron, { endings, place: '#/jobs', engine, window });
      if (work.isKnown()) quitWhenIdle();
    },
    onTransfers: (now) => {
      const before = updateTransfers(now);
      void notifyEnded(electron, { endings: findEndings(before, now), place: '#/transfers', engine, window });
      // Also when the app started hidden at login and finds nothing to resume.
      quitWhenIdle();
    },
  });

  checkIncoming(electron, {
    engine,
    tray,
    isVisible: () => work.hasTransfers() || window.current()?.isFocused() === true,
  });
  answerOwnQuestions(electron, { dragIcon: facts.iconPath, engine, secrets, window });
  setMenu(electron, facts, window);
  app.on('activate', () => window.show());
  app.on('window-all-closed', () => {
    work.noteWindowsClosed();
    quitWhenIdle();
  });
  quitInOrder(electron, { engine, tray });

  const openLink = (link: string) => void askAndOpen(electron, window, engine, link);
  app.on('second-instance', (_event, argv) => {
    window.show();
    const link = findDeepLink(argv);
    if (link !== undefined) openLink(link);
  });
  return { window, openLink };
}

/** Notifies the user that transfers or jobs continue without the window; about jobs only once. */
function createClosingNotice(
  electron: ElectronParts,
  { platform }: Pick<DesktopFacts, 'platform'>,
  work: Work,
): (show: MainWindow['show']) => void {
  let isQuitting = false;
  let isTold = false;
  electron.app.on('before-quit', () => {
    isQuitting = true;
  });
  return (show) => {
    if (isQuitting || platform === 'darwin') return;
    if (work.hasJobs() && !isTold) {
      isTold = true;
      const body = 'It starts your saved jobs when they are due. To quit, use its tray icon.';
      notify(electron, { title: 'Dray stays in the tray', body }, () => show('#/jobs'));
    } else if (work.hasTransfers()) {
      const body = work.hasJobs() ? 'Dray stays in the tray.' : 'Dray quits when they have ended.';
      notify(electron, { title: 'Transfers continue', body }, () => show('#/transfers'));
    }
  };
}

function setMenu(electron: ElectronParts, facts: DesktopFacts, window: MainWindow): void {
  const { app, Menu } = electron;
  const login = loginItem(electron, facts);
  const template = menuTemplate(
    { platform: facts.platform, isDevelopment: !app.isPackaged, opensAtLogin: login.opensAtLogin() },
    { show: window.show, setOpensAtLogin: login.setOpensAtLogin },
  );
  Menu.setApplicationMenu(Menu.buildFromTemplate(template));
}

const CHECK_EVERY_MS = 4 * 60_000;

/**
 * Updates the counts of incoming and outgoing changes in the tray, while the tray or the window is visible.
 */
function checkIncoming(
  { app }: Pick<ElectronParts, 'app'>,
  {
    engine,
    isVisible,
    tray,
  }: { readonly engine: EngineHost; readonly tray: TransferTray; readonly isVisible: () => boolean },
): void {
  const check = async (): Promise<void> => {
    if (!isVisible()) return;
    const { looks } = await engine.ask('home.look', { maxAgeMs: CHECK_EVERY_MS });
    tray.showIncoming(looks);
  };
  const checkQuietly = () => void check().catch(() => {});
  const timer = setInterval(checkQuietly, CHECK_EVERY_MS);
  app.on('browser-window-focus', checkQuietly);
  app.on('will-quit', () => clearInterval(timer));
}

/** The engine stops properly before the app quits. Transfers stopped here resume at the next start. */
function quitInOrder(
  { app }: Pick<ElectronParts, 'app'>,
  { engine, tray }: { readonly engine: EngineHost; readonly tray: TransferTray },
): void {
  let isEnded = false;
  let isEnding = false;
  app.on('will-quit', (event) => {
    if (isEnded) return;
    event.preventDefault();
    if (isEnding) return;
    isEnding = true;
    tray.dispose();
    void engine
      .close()
      .catch(() => {})
      .finally(() => {
        isEnded = true;
        app.quit();
      });
  });
}

async function notifyEnded(
  electron: ElectronParts,
  parts: {
    readonly endings: readonly Ending[];
    readonly place: string;
    readonly engine: EngineHost;
    readonly window: MainWindow;
  },
): Promise<void> {
  const { endings, engine, place, window } = parts;
  if (endings.length === 0 || window.current()?.isFocused()) return;
  const wanted = await engine.ask('settings.get', {}).then(
    ({ notifications }) => notifications,
    () => true,
  );
  if (!wanted) return;
  for (const ending of endings) notify(electron, ending, () => window.show(place));
}

/** @param engine Given if it does not restart by itself. */
function showCrash(
  electron: ElectronParts,
  window: MainWindow,
  error: DrayError,
  engine: (() => EngineHost) | undefined,
): void {
  if (!engine) {
    const body = 'Dray restarted it. Transfers that were running are paused in the list.';
    notify(electron, { title: 'The engine stopped', body }, () => window.show('#/transfers'));
    return;
  }
  const options = {
    type: 'error' as const,
    message: 'The engine stopped several times, so Dray does not restart it.',
    detail: `${error.message}\n\nYour stored data is safe.`,
    buttons: ['Restart It', 'Quit'],
    defaultId: 0,
    cancelId: 0,
    noLink: true,
  };
  void showBox(electron, window, options).then((choice) =>
    choice === 1 ? electron.app.quit() : engine().startAnew(),
  );
}

/** A link does nothing before the user agrees. Return chooses "no". */
async function askAndOpen(
  electron: ElectronParts,
  window: MainWindow,
  engine: EngineHost,
  text: string,
): Promise<void> {
  const link = parseDeepLink(text);
  window.show();
  if (!link) {
    const message = 'Dray refused a link that asked for something links may not do.';
    await showBox(electron, window, { type: 'warning', message, buttons: ['OK'], noLink: true });
    return;
  }
  const choice = await showBox(electron, window, {
    type: 'question',
    ...describeDeepLink(link),
    buttons: ['Open', 'Cancel'],
    defaultId: 1,
    cancelId: 1,
    noLink: true,
  });
  if (choice !== 0) return;
  if (link.shows === 'workspace') {
    try {
      await engine.ask('home.addWorkspace', { root: link.root });
    } catch (error) {
      const detail = error instanceof Error ? error.message : String(error);
      const message = 'The workspace could not be opened.';
      await showBox(electron, window, { type: 'error', message, detail, buttons: ['OK'], noLink: true });
      return;
    }
  }
  window.show(hashOf(link));
}

async function showBox(
  { dialog }: Pick<ElectronParts, 'dialog'>,
  window: MainWindow,
  options: MessageBoxOptions,
): Promise<number> {
  const owner = window.current();
  const { response } = await (owner ? dialog.showMessageBox(owner, options) : dialog.showMessageBox(options));
  return response;
}
