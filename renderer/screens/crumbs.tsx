/** The way from the top to the current place. Each part is a link. */
import './crumbs.css';
import { useLayoutEffect, useRef } from 'react';
import { Icon } from '../design/icon.tsx';

export interface Crumb {
  readonly key: string;
  readonly name: string;
}

export function Crumbs({
  label,
  crumbs,
  onGo,
}: {
  readonly label: string;
  readonly crumbs: readonly Crumb[];
  readonly onGo: (key: string) => void;
}) {
  const nav = useRef<HTMLElement>(null);
  // biome-ignore lint/correctness/useExhaustiveDependencies: it runs when another place is the current one
  useLayoutEffect(() => {
    if (nav.current) nav.current.scrollTop = nav.current.scrollHeight;
  }, [crumbs.at(-1)?.key]);
  return (
    <nav ref={nav} className="crumbs" aria-label={label}>
      {crumbs.map(({ key, name }, index) => (
        <span key={key} className="row">
          {index > 0 && <Icon name="chevronRight" size={12} />}
          <button
            type="button"
            className="crumb"
            aria-current={index === crumbs.length - 1 ? 'location' : undefined}
            onClick={() => onGo(key)}
          >
            {name}
          </button>
        </span>
      ))}
    </nav>
  );
}
