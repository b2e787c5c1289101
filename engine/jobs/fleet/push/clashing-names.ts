/** Finds objects such as `a` and `a/b`: a bucket can have both, a dataset cannot. */
export interface ClashingNames {
  /** Paths ascend. Returns the file that lies where this path needs a folder. */
  add(path: string, owner?: string): OwnedName | undefined;
  /** The files that a later path may need as folders. */
  open(): readonly string[];
}

interface OwnedName {
  readonly path: string;
  readonly owner: string;
}

/** Between a file and paths below its name lie only paths that begin with its name, so few are kept. */
export function createClashingNames(): ClashingNames {
  let open: OwnedName[] = [];
  return {
    add(path, owner = '') {
      open = open.filter((file) => path.startsWith(file.path));
      const above = open.find((file) => path.startsWith(`${file.path}/`));
      if (above === undefined) open.push({ path, owner });
      return above;
    },
    open: () => open.map(({ path }) => path),
  };
}
