import { join } from 'node:path';
import { expect } from 'vitest';
import { DrayError } from '../../engine/api/error.ts';
import { collectGarbage } from '../../engine/jobs/collect/collect.ts';
import { branch } from '../../engine/jobs/history/refs.ts';
import { pull } from '../../engine/jobs/pull/pull.ts';
import { switchBranch } from '../../engine/jobs/pull/switch.ts';
import { push } from '../../engine/jobs/push/push.ts';
import { forget } from '../../engine/jobs/retention/forget.ts';
import { scope } from '../../engine/jobs/scope/scope.ts';
import { restore } from '../../engine/jobs/working-copy/restore.ts';
import { compileScope } from '../../engine/model/scope.ts';
import {
  clashes,
  clashingWith,
  foldersOf,
  readTree,
  removeAt,
  removeEmptyFolders,
  sameFiles,
  sameSets,
  setOrDelete,
} from './partial-files.ts';
import {
  BRANCHES,
  type Machine,
  PATHS,
  PartialMachines,
  type Refused,
  refused,
  type Sides,
} from './partial-machines.ts';

export class PartialModel extends PartialMachines {
  async step(): Promise<void> {
    const machine = this.draw.of(this.machines);
    const edit = () => this.edit(machine);
    const steps = [edit, edit, edit, edit, () => this.push(machine), () => this.push(machine)];
    steps.push(
      () => this.pull(machine),
      () => this.pull(machine),
      () => this.restore(machine),
    );
    if (this.draw.chance(30)) steps.push(() => this.switch(machine));
    if (machine.only || this.draw.chance(10)) steps.push(() => this.scope(machine));
    if (this.draw.chance(20)) steps.push(async () => this.loseIndex(machine));
    if (this.draw.chance(40)) steps.push(() => this.pushBoth(machine));
    if (this.draw.chance(15))
      steps.push(
        () => this.forget(machine),
        () => this.replaceBranch(machine),
      );
    await this.draw.of(steps)();
    this.check(machine);
  }

  private async push(machine: Machine): Promise<void> {
    this.settlePush(machine, await this.tryPush(machine));
  }

  private tryPush = (machine: Machine) => push(this.context(machine), { allowEmptied: true }).catch(refused);

  /** Two at once: the one that was merged came second. */
  private async pushBoth(machine: Machine): Promise<void> {
    const other = this.draw.of(this.machines.filter((one) => one !== machine));
    const [mine, its] = await Promise.all([this.tryPush(machine), this.tryPush(other)]);
    const isSecond =
      typeof mine !== 'object' ||
      (typeof its === 'object' && its.commit !== null && mine.mergedWith === its.commit);
    if (isSecond) this.settlePush(other, its);
    this.settlePush(machine, mine, isSecond);
    if (!isSecond) this.settlePush(other, its, true);
    this.count('pushed at once');
    this.check(other);
  }

  /** @param isRaced Another push may have come before or after it. */
  private settlePush(
    machine: Machine,
    outcome: Awaited<ReturnType<typeof push>> | Refused,
    isRaced = false,
  ): void {
    const sides = this.sides(machine);
    const tip = this.tips.get(machine.branch)!;
    const changed = this.withOurs(machine, sides.base, sides.base);
    const hasChanges = !sameFiles(changed, sides.base);
    const merged = this.withOurs(machine, sides.base, sides.target);
    const isClash =
      hasChanges &&
      // Its own commit comes first, on the base: a file outside of the part may lie there as a folder here.
      (clashes(changed) ||
        clashes(merged) ||
        (tip !== machine.base && this.conflicts(machine, sides).length > 0));
    if (typeof outcome === 'string') {
      if (outcome !== 'conflict') {
        this.expectGone(machine, outcome);
        return;
      }
      this.count('push refused');
      if (!isRaced) expect([outcome, isClash]).toEqual(['conflict', true]);
      return;
    }
    expect(isClash).toBe(false);
    if (outcome.result === 'pushed') {
      this.count(outcome.mergedWith ? 'push merged' : 'pushed');
      this.commits.set(outcome.commit!, merged);
      this.tips.set(machine.branch, outcome.commit!);
    } else expect(sameFiles(merged, sides.target)).toBe(true);
    const base = this.baseOf(machine);
    if (!this.commits.has(base)) this.commits.set(base, changed);
    machine.base = base;
  }

  /** By a machine that holds any part. */
  private async forget(machine: Machine): Promise<void> {
    await forget(this.context(machine), { policy: { keepLast: 2 } });
    await collectGarbage(this.context(machine), { graceSeconds: 0 });
    const tips = new Set(this.tips.values());
    for (const hash of this.commits.keys()) if (!tips.has(hash)) this.maybeGone.add(hash);
    this.count('forgot');
  }

  /** Removes the branch on which nobody is, and makes it anew where this machine is. */
  private async replaceBranch(machine: Machine): Promise<void> {
    const name = BRANCHES.find((one) => this.machines.every((other) => other.branch !== one));
    if (name === undefined || this.tips.get(machine.branch) !== machine.base) return;
    await branch(this.context(machine), { name, remove: true });
    await branch(this.context(machine), { name });
    this.tips.set(name, machine.base);
    this.count('branch replaced');
  }

  private async pull(machine: Machine): Promise<void> {
    const drawn = this.draw.of(['stop', 'ours', 'theirs'] as const);
    const sides = this.sides(machine);
    const decision = this.isSwapped(machine, sides) ? 'stop' : drawn;
    const request = decision === 'stop' ? {} : { conflicts: decision };
    const outcome = await pull(this.context(machine), request).catch(refused);
    await this.settle(machine, machine.branch, { sides, outcome, decision });
  }

  private async switch(machine: Machine): Promise<void> {
    const name = this.draw.of(BRANCHES.filter((one) => one !== machine.branch));
    const sides = this.sides(machine, name);
    const outcome = await switchBranch(this.context(machine), { name }).catch(refused);
    await this.settle(machine, name, { sides, outcome, decision: 'stop' });
  }

  private async settle(
    machine: Machine,
    name: string,
    {
      decision,
      outcome,
      sides,
    }: { readonly sides: Sides; readonly outcome: unknown; readonly decision: 'stop' | 'ours' | 'theirs' },
  ): Promise<void> {
    const tip = this.tips.get(name)!;
    const met = new Set(tip === machine.base ? [] : this.conflicts(machine, sides));
    const merged = this.merged(machine, sides);
    if (outcome === 'gone' || outcome === 'goneForGood') {
      this.expectGone(machine, outcome);
      return await this.cloneAgain(machine);
    }
    if (tip !== machine.base && decision === 'stop' && (met.size > 0 || clashes(merged, machine.outside))) {
      this.count(met.size > 0 ? 'pull refused' : 'file and folder met');
      expect(outcome).toBe('conflict');
      return;
    }
    expect(outcome).toMatchObject({ failed: 0 });
    this.count(name === machine.branch ? 'pulled' : 'switched');
    for (const path of met)
      if (decision === 'ours') setOrDelete(merged as Map<string, string>, path, machine.files.get(path));
    machine.files = merged as Map<string, string>;
    machine.branch = name;
    machine.base = tip;
    expect(this.baseOf(machine)).toBe(tip);
  }

  private async restore(machine: Machine): Promise<void> {
    const base = this.commits.get(machine.base)!;
    const path = this.draw.of([...PATHS, ...PATHS.flatMap(foldersOf)]);
    const below = [...base.keys()].filter((one) => one === path || one.startsWith(`${path}/`));
    const held = below.filter(this.holds(machine));
    const restored = new Map(held.map((one) => [one, base.get(one)!]));
    if (clashes(new Map([...machine.files, ...machine.outside, ...restored]))) return;
    const request = { paths: [join(this.root(machine.name), path)] };
    const outcome = await restore(this.context(machine), request).catch(refused);
    if (outcome === 'gone' || outcome === 'goneForGood') {
      this.expectGone(machine, outcome);
      return await this.cloneAgain(machine);
    }
    const isHeld = held.length > 0;
    const expected = isHeld ? { failed: 0 } : below.length > 0 ? 'outsideScope' : 'absent';
    if (typeof expected === 'string') expect(outcome).toBe(expected);
    else expect(outcome).toMatchObject(expected);
    this.count(isHeld ? 'restored' : `restore of ${expected}`);
    for (const [one, content] of restored) machine.files.set(one, content);
  }

  private async scope(machine: Machine): Promise<void> {
    const patterns = this.patterns();
    const held = machine.only;
    const action = held ? this.draw.of(['add', 'only', 'only', 'drop', 'clear'] as const) : 'only';
    if (this.maybeGone.has(machine.base)) return await this.pull(machine);
    const gone = action === 'drop' ? this.draw.of(held!) : undefined;
    const next = {
      add: [...new Set([...(held ?? []), ...patterns])],
      clear: undefined,
      drop: held?.filter((pattern) => pattern !== gone),
      only: patterns,
    }[action];
    await this.refuseOthers(machine, next);
    if (action === 'clear') {
      if (!this.draw.chance(20)) return;
      await this.changeScope(machine, undefined);
    } else if (action === 'add') {
      await this.rescopeBy(machine, { action, patterns }, next);
    } else if (action === 'drop') {
      if (held!.length < 2) return;
      await this.rescopeBy(machine, { action, patterns: [gone!] }, next);
    } else await this.changeScope(machine, patterns);
  }

  /** A file outside that differs from the base's stops the change that would take it in. It is moved away. */
  private async refuseOthers(machine: Machine, only: readonly string[] | undefined): Promise<void> {
    if (!machine.only) return;
    const base = this.commits.get(machine.base)!;
    const held = this.holds(machine);
    const holds = only ? compileScope(only).holds : () => true;
    const isFetched = this.fetchedEarlier(machine);
    const outside = new Map([...machine.outside].filter(([path, content]) => !isFetched(path, content)));
    const entering = new Map([...base].filter(([path]) => holds(path) && !held(path)));
    const others = new Set(
      [...outside]
        .filter(([path, content]) => holds(path) && base.has(path) && base.get(path) !== content)
        .map(([path]) => path),
    );
    for (const path of clashingWith(outside, entering)) others.add(path);
    for (const path of clashingWith(machine.files, entering)) others.add(path);
    // What an earlier run fetched is in the way if it stays outside.
    for (const path of clashingWith(machine.outside, entering)) if (!holds(path)) others.add(path);
    if (others.size === 0) return;
    this.count('scope refused');
    const request = only ? ({ action: 'only', patterns: only } as const) : ({ action: 'clear' } as const);
    expect(await scope(this.context(machine), request).catch(refused)).toBe('conflict');
    this.check(machine);
    for (const path of others) {
      machine.outside.delete(path);
      machine.files.delete(path);
      removeAt(this.root(machine.name), path, { withFolders: true });
    }
  }

  /** Whether a widening that did not end has fetched this. */
  private fetchedEarlier(machine: Machine): (path: string, content: string) => boolean {
    const noted: readonly { readonly commit: string; readonly only: readonly string[] }[] =
      this.stateOf(machine).scope?.entering ?? [];
    const runs = noted.map(({ commit, only }) => ({
      files: this.commits.get(commit)!,
      holds: only.length === 0 ? () => true : compileScope(only).holds,
    }));
    return (path, content) => runs.some(({ files, holds }) => holds(path) && files.get(path) === content);
  }

  /** A stopped change may have fetched files, and has not taken them in. True if it did nothing else. */
  private leaveFetched(
    machine: Machine,
    only: readonly string[] | undefined,
    isFetched: (path: string, content: string) => boolean,
  ): boolean {
    const { scope: now } = this.stateOf(machine);
    if (!machine.only || now?.leaving || !sameSets(now?.only, machine.only)) return false;
    const holds = only ? compileScope(only).holds : () => true;
    const held = this.holds(machine);
    const here = readTree(this.root(machine.name));
    // What earlier ones fetched is brought to the base.
    for (const [path, content] of machine.outside)
      if (holds(path) && isFetched(path, content)) setOrDelete(machine.outside, path, here.get(path));
    for (const [path, content] of this.commits.get(machine.base)!) {
      const isNew = holds(path) && !held(path) && !machine.outside.has(path);
      if (isNew && here.has(path)) machine.outside.set(path, content);
    }
    return true;
  }

  /** Sometimes stops in the middle, and does it again, or something else. */
  private async changeScope(machine: Machine, only: readonly string[] | undefined): Promise<void> {
    const request = only ? ({ action: 'only', patterns: only } as const) : ({ action: 'clear' } as const);
    const isFetched = this.fetchedEarlier(machine);
    if (this.draw.chance(50)) {
      const stop = new AbortController();
      let left = 1 + this.draw.below(8);
      const emit = () => {
        left -= 1;
        if (left === 0) stop.abort();
      };
      const outcome = await scope({ ...this.context(machine), signal: stop.signal, emit }, request).catch(
        (error: unknown) => {
          if (error instanceof DrayError && error.code === 'aborted') return 'stopped' as const;
          return refused(error);
        },
      );
      if (outcome === 'stopped') {
        this.count('scope stopped');
        if (this.draw.chance(70) && this.leaveFetched(machine, only, isFetched)) {
          if (this.draw.chance(70)) await this.overtake(machine, only);
          return;
        }
      }
    }
    await this.rescopeBy(machine, request, only);
  }

  /** Others change what a stopped widening has fetched, and this machine pulls before it goes on. */
  private async overtake(machine: Machine, only: readonly string[] | undefined): Promise<void> {
    const whole = this.machines[0]!;
    if (whole.branch !== machine.branch || whole.only) return;
    const isFetched = this.fetchedEarlier(machine);
    const fetched = [...machine.outside].filter(([path, content]) => isFetched(path, content));
    for (const [path] of fetched.filter(() => this.draw.chance(60))) {
      if (!whole.files.has(path) || this.draw.chance(40)) this.put(whole, path, this.newContent());
      else {
        whole.files.delete(path);
        removeAt(this.root(whole.name), path, { withFolders: true });
      }
    }
    await this.push(whole);
    await this.pull(machine);
    this.check(machine);
    if (this.maybeGone.has(machine.base)) return;
    await this.refuseOthers(machine, only);
    const request = only ? ({ action: 'only', patterns: only } as const) : ({ action: 'clear' } as const);
    await this.rescopeBy(machine, request, only);
  }

  private async rescopeBy(
    machine: Machine,
    request: Parameters<typeof scope>[1],
    only: readonly string[] | undefined,
  ): Promise<void> {
    const isFetched = this.fetchedEarlier(machine);
    const outcome = await scope(this.context(machine), request).catch(refused);
    if (outcome === 'namesNothing') {
      const { names } = compileScope('patterns' in request ? request.patterns : []);
      expect([...this.commits.get(machine.base)!.keys()].filter(names)).toEqual([]);
      this.count('scope names nothing');
      return;
    }
    if (outcome === 'conflict') {
      // The commit of a widening that did not end is gone: what may be of it is moved away.
      const noted: readonly { readonly commit: string }[] = this.stateOf(machine).scope?.entering ?? [];
      expect(noted.some(({ commit }) => this.maybeGone.has(commit))).toBe(true);
      this.count('fetched of a commit that is gone');
      const holds = only ? compileScope(only).holds : () => true;
      const base = this.commits.get(machine.base)!;
      for (const [path, content] of machine.outside) {
        if (!holds(path) || base.get(path) === content) continue;
        machine.outside.delete(path);
        removeAt(this.root(machine.name), path, { withFolders: true });
      }
      removeEmptyFolders(this.root(machine.name));
      expect(await scope(this.context(machine), request)).toMatchObject({ failed: 0 });
    } else expect(outcome).toMatchObject({ failed: 0 });
    this.rescope(machine, only, isFetched);
  }

  private rescope(machine: Machine, only: readonly string[] | undefined, isFetched = NOTHING_FETCHED): void {
    this.count('scope changed');
    const held = this.holds(machine);
    machine.only = only;
    const holds = this.holds(machine);
    const base = this.commits.get(machine.base)!;
    for (const [path, content] of machine.outside) {
      if (!holds(path) || !isFetched(path, content) || base.get(path) === content) continue;
      machine.outside.delete(path);
      this.count('fetched earlier');
    }
    for (const [path, content] of base)
      if (holds(path) && !held(path) && !machine.outside.has(path)) machine.files.set(path, content);
    for (const [path, content] of machine.outside) {
      if (!holds(path)) continue;
      machine.outside.delete(path);
      machine.files.set(path, content);
    }
    for (const [path, content] of machine.files) {
      if (holds(path)) continue;
      machine.files.delete(path);
      if (base.get(path) !== content) machine.outside.set(path, content);
    }
  }
}

const NOTHING_FETCHED = (_path: string, _content: string) => false;
