/**
 * React's JSX, which shows outside text safely: in a name, `\u202e` stands for the character that would
 * reverse what follows. `.vite.config.ts` puts it into every element, so no screen can forget it. Line breaks
 * and tabs stay, since the window's own text has them, and so do values of fields.
 */
import { Fragment, jsx as plainJsx, jsxs as plainJsxs } from 'react/jsx-runtime';
import { escapeUnsafe } from '../../engine/api/text/outside-text.ts';

type Jsx = typeof plainJsx;

/** The props that browsers and the kit show or read out as they are. */
const SHOWN = ['alt', 'aria-label', 'children', 'placeholder', 'textValue', 'title'] as const;
const KEPT = '\n\r\t';

const jsx: Jsx = (type, props, key) => plainJsx(type, showSafely(props as Props), key);
const jsxs: Jsx = (type, props, key) => plainJsxs(type, showSafely(props as Props), key);
/** Of the development server, without the places in the source that React would name. */
const jsxDEV: Jsx = (type, props, key) =>
  (Array.isArray((props as Props).children) ? jsxs : jsx)(type, props, key);

export { Fragment, jsx, jsxDEV, jsxs };

type Props = Readonly<Record<string, unknown>>;

function showSafely(props: Props): Props {
  let safe: Record<string, unknown> | undefined;
  for (const name of SHOWN) {
    const before = props[name];
    const after = safeOf(before);
    if (after === before) continue;
    safe ??= { ...props };
    safe[name] = after;
  }
  return safe ?? props;
}

/** The same value if nothing in it is unsafe. */
function safeOf(value: unknown): unknown {
  if (typeof value === 'string') return escapeUnsafe(value, KEPT);
  if (!Array.isArray(value)) return value;
  const parts = value.map(safeOf);
  return parts.some((part, index) => part !== value[index]) ? parts : value;
}
