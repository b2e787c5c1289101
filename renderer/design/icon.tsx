/** The window's own icons: 16 px, one stroke, in the colour of their text. */
const PATHS = {
  home: 'M2.5 7.2 8 2.8l5.5 4.4v6H9.8V9.6H6.2v3.6H2.5z',
  changes: 'M5 2.5v11M2.5 5h5M10 11.5h4M3 13.5h4M11 3.5l2 2-2 2M9 5.5h4',
  plan: 'M2.5 2.5v11h11M5 10.5l2.5-3 2.2 1.8 3.8-5',
  transfers: 'M5 13V3.5M2.5 6 5 3.5 7.5 6M11 3v9.5M8.5 10l2.5 2.5 2.5-2.5',
  jobs: 'M2.6 4h10.8v9.4H2.6zM2.6 7h10.8M5.4 2.6v2.8M10.6 2.6v2.8M6 10.2l1.4 1.4 2.6-2.8',
  fleet: 'M2.5 2.5h4.6v4.6H2.5zM8.9 2.5h4.6v4.6H8.9zM2.5 8.9h4.6v4.6H2.5zM8.9 8.9h4.6v4.6H8.9z',
  history: 'M8 4.8V8l2.2 1.6M2.6 6.2A5.7 5.7 0 1 1 2.4 9M2.5 3v3.4h3.4',
  browse: 'M2 4.2h4l1.4 1.6H14v7H2zM8 5.8v7',
  repositories:
    'M13 4c0 1.1-2.2 2-5 2s-5-.9-5-2 2.2-2 5-2 5 .9 5 2zM3 4v8c0 1.1 2.2 2 5 2s5-.9 5-2V4M3 8c0 1.1 2.2 2 5 2s5-.9 5-2',
  remotes: 'M4.6 12.5a3 3 0 0 1-.5-5.9A4 4 0 0 1 11.8 6a3.3 3.3 0 0 1-.2 6.5z',
  settings: 'M2.5 4.5h6M11.5 4.5h2M2.5 11.5h2M7.5 11.5h6M8.5 3v3M4.5 10v3M5.5 8h8M2.5 8h.6',
  folder: 'M2 4.2h4l1.4 1.6H14v7H2z',
  folderPlus: 'M2 4.2h4l1.4 1.6H14v7H2zM8 7.4v3.8M6.1 9.3h3.8',
  sizes: 'M3 13.2V9.6M6.4 13.2V4.4M9.8 13.2V7.2M13.2 13.2V2.8',
  file: 'M4 2.2h5L12.2 5.4v8.4H4zM9 2.2v3.2h3.2',
  link: 'M6.8 9.2 9.6 6.4M7.2 4.8l1-1a2.5 2.5 0 0 1 3.6 3.6l-1 1M8.8 11.2l-1 1a2.5 2.5 0 0 1-3.6-3.6l1-1',
  search: 'M7 2.8a4.2 4.2 0 1 0 0 8.4 4.2 4.2 0 0 0 0-8.4zM10.2 10.2l3.3 3.3',
  plus: 'M8 3v10M3 8h10',
  minus: 'M3 8h10',
  close: 'M4 4l8 8M12 4l-8 8',
  check: 'M3 8.4 6.4 11.8 13 4.6',
  chevronDown: 'M4 6l4 4 4-4',
  chevronRight: 'M6 4l4 4-4 4',
  arrowUp: 'M8 13V3.4M4 7.4l4-4 4 4',
  arrowDown: 'M8 3v9.6M4 8.6l4 4 4-4',
  arrowRight: 'M3 8h9.6M8.6 4l4 4-4 4',
  warning: 'M8 2.6 14 13H2zM8 6.4v3M8 11.2v.2',
  info: 'M8 2.4a5.6 5.6 0 1 0 0 11.2A5.6 5.6 0 0 0 8 2.4zM8 7.4v3.4M8 5v.2',
  repair: 'M8 2.4a5.6 5.6 0 1 0 0 11.2A5.6 5.6 0 0 0 8 2.4zM8 5.4v5.2M5.4 8h5.2',
  more: 'M3.4 8h.1M8 8h.1M12.6 8h.1',
  refresh: 'M13 3v3.4H9.6M13.2 8.6A5.3 5.3 0 1 1 12.4 5.2L13 6.4',
  pause: 'M5.5 3.5v9M10.5 3.5v9',
  play: 'M4.8 3.2 12.4 8l-7.6 4.8z',
  trash: 'M3 4.4h10M6.4 4.4V2.8h3.2v1.6M4.4 4.4l.6 9h6l.6-9',
  branch:
    'M5 4.6v6.8M5 8.6c0-2.2 6-1.2 6-4M5 2a1.3 1.3 0 1 0 0 2.6A1.3 1.3 0 0 0 5 2zM5 11.4A1.3 1.3 0 1 0 5 14a1.3 1.3 0 0 0 0-2.6zM11 2a1.3 1.3 0 1 0 0 2.6A1.3 1.3 0 0 0 11 2z',
  tag: 'M2.6 2.6h5L13.4 8.4l-5 5-5.8-5.8zM5.4 5.4h.1',
  image: 'M2.4 3h11.2v10H2.4zM2.4 11l3.4-3.4 2.6 2.6 2-2 3.2 3.2M10.4 5.8h.1',
  drive: 'M2.4 9.2 4 3.4h8l1.6 5.8v3.6H2.4zM2.4 9.2h11.2M10.8 11h.8',
  cloud: 'M4.6 12.5a3 3 0 0 1-.5-5.9A4 4 0 0 1 11.8 6a3.3 3.3 0 0 1-.2 6.5z',
  command:
    'M6 6h4v4H6zM6 6H4.4A1.7 1.7 0 1 1 6 4.4zM10 6V4.4A1.7 1.7 0 1 1 11.6 6zM10 10h1.6a1.7 1.7 0 1 1-1.6 1.6zM6 10v1.6A1.7 1.7 0 1 1 4.4 10z',
  edit: 'M3 13l.6-2.8 7-7 2.2 2.2-7 7zM9.2 4.6l2.2 2.2',
  download: 'M8 2.6v7.6M4.6 7 8 10.4 11.4 7M2.8 13.2h10.4',
  upload: 'M8 10.4V2.8M4.6 6 8 2.6 11.4 6M2.8 13.2h10.4',
  grip: 'M6 4h.1M10 4h.1M6 8h.1M10 8h.1M6 12h.1M10 12h.1',
  copy: 'M5.4 5.4h8v8h-8zM10.6 5.4V2.6h-8v8h2.8',
} as const;

export type IconName = keyof typeof PATHS;

/** Decorative: the control that holds the icon has the name. */
export function Icon({ name, size = 16 }: { readonly name: IconName; readonly size?: number }) {
  const width = name === 'more' || name === 'grip' ? 2 : 1.4;
  return (
    <svg
      aria-hidden="true"
      className="icon"
      width={size}
      height={size}
      viewBox="0 0 16 16"
      fill="none"
      stroke="currentColor"
      strokeWidth={width}
      strokeLinecap="round"
      strokeLinejoin="round"
    >
      <path d={PATHS[name]} />
    </svg>
  );
}
