import './app.css';
import { Suspense, useEffect, useLayoutEffect, useRef, useState } from 'react';
import { RouterProvider } from 'react-aria-components';
import { Loading } from './design/states.tsx';
import { useAsk, useRefresh } from './host/use-host.tsx';
import { useRoute } from './route.ts';
import { RecordThroughput } from './screens/transfers/record-throughput.tsx';
import { applyDensity } from './shell/appearance/density.ts';
import { applyTheme } from './shell/appearance/theme.ts';
import { AwayBanner } from './shell/away-banner.tsx';
import { CommandPalette } from './shell/commands/command-palette.tsx';
import { NotifyEndings } from './shell/notify-endings.tsx';
import { Rail } from './shell/rail.tsx';
import { ScreenBoundary } from './shell/screen-boundary.tsx';
import { fetchScreens, SCREENS } from './shell/screens.ts';
import { KeptToast } from './shell/toasts/kept-toast.tsx';
import { Toasts } from './shell/toasts/toasts.tsx';
import { chooseWorkspace } from './shell/use-workspace.ts';

/** The window: the rail, the screen, and what may cover them. */
export function App() {
  const { screen, given } = useRoute();
  const [isPaletteOpen, setPaletteOpen] = useState(false);
  /**
   * The element that had the focus before the palette opened. It gets the focus back unless a command leads
   * elsewhere.
   */
  const openedAt = useRef('');
  useEffect(() => {
    if (isPaletteOpen) openedAt.current = location.hash;
  }, [isPaletteOpen]);
  const { Screen, title } = SCREENS[screen];
  useLookOfSettings();
  useNamedWorkspace(given.workspace);
  useScreenFocus(screen);
  // With the first paint, so that no key is lost that a person presses once the window is there.
  useLayoutEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (event.key.toLowerCase() !== 'k' || !(event.ctrlKey || event.metaKey) || event.altKey) return;
      event.preventDefault();
      setPaletteOpen((isOpen) => !isOpen);
    };
    // Before the element that has the focus, which may keep its keys to itself.
    addEventListener('keydown', onKey, { capture: true });
    return () => removeEventListener('keydown', onKey, { capture: true });
  }, []);
  useEffect(() => {
    const idle = setTimeout(fetchScreens, 1_000);
    return () => clearTimeout(idle);
  }, []);
  return (
    <RouterProvider navigate={(href) => location.assign(href)}>
      <button type="button" className="skip" onClick={focusScreen}>
        Skip to the screen
      </button>
      <AwayBanner />
      <div className="window">
        <Rail onPalette={() => setPaletteOpen(true)} />
        {/* The same element whatever is in it, so that the focus stays while a screen is fetched and filled. */}
        <main id="screen" className="screens" tabIndex={-1}>
          <ScreenBoundary key={screen}>
            <Suspense fallback={<Opening title={title} />}>
              <Screen />
            </Suspense>
          </ScreenBoundary>
        </main>
      </div>
      <CommandPalette
        isOpen={isPaletteOpen}
        onClose={() => setPaletteOpen(false)}
        onGone={() => {
          if (location.hash !== openedAt.current) focusScreen();
        }}
      />
      <Toasts />
      <RecordThroughput />
      {!window.dray && <NotifyEndings />}
      <KeptToast />
    </RouterProvider>
  );
}

function Opening({ title }: { readonly title: string }) {
  return (
    <>
      <h1 className="unseen">{title}</h1>
      <Loading label="Opening" />
    </>
  );
}

/** The address may name a workspace: a link into the desktop app does. */
function useNamedWorkspace(root: string | undefined): void {
  const refresh = useRefresh();
  useEffect(() => {
    if (root === undefined) return;
    chooseWorkspace(root);
    void refresh('home.list');
  }, [root, refresh]);
}

function useLookOfSettings(): void {
  const { data } = useAsk('settings.get', {}, { freshMs: 60_000 });
  const theme = data?.theme;
  const density = data?.density;
  useEffect(() => {
    if (theme) applyTheme(theme);
  }, [theme]);
  useEffect(() => {
    if (density) applyDensity(density);
  }, [density]);
}

/**
 * A new screen takes the focus, so that the keyboard and a screen reader continue there. The first screen
 * does not.
 */
function useScreenFocus(screen: string): void {
  const isFirst = useRef(true);
  // biome-ignore lint/correctness/useExhaustiveDependencies: it runs when the screen changes
  useEffect(() => {
    if (!isFirst.current) focusScreen();
    isFirst.current = false;
  }, [screen]);
}

function focusScreen(): void {
  document.getElementById('screen')?.focus();
}
