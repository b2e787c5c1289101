/**
 * The files for a cluster. No container can run in a test, so they are read here; `linters.long.test.ts` has
 * linters read them too.
 */
import { globSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Command } from 'commander';
import { describe, expect, it } from 'vitest';
import type { CommandHost } from '../../cli/command-host.ts';
import { buildProgram } from '../../cli/program.ts';

const { load, loadAll } = createRequire(import.meta.url)('js-yaml') as {
  load(text: string): unknown;
  loadAll(text: string): unknown[];
};

interface Service {
  readonly image: string;
  readonly command?: readonly string[];
  readonly restart?: string;
  readonly environment?: Readonly<Record<string, string>>;
  readonly ports?: readonly string[];
  readonly configs?: readonly { readonly source: string; readonly target: string }[];
  readonly stop_grace_period?: string;
  readonly deploy?: { readonly resources: { readonly limits: { readonly memory?: string } } };
}

/** A manifest, as far as the tests look. */
// biome-ignore lint/suspicious/noExplicitAny: the linters check the shape
type Manifest = any;

const FOLDER = fileURLToPath(new URL('.', import.meta.url));
const read = (name: string) => readFileSync(join(FOLDER, name), 'utf8');
const project = JSON.parse(readFileSync(join(FOLDER, '../../../package.json'), 'utf8'));

const recipe = read('worker.Dockerfile');
const { configs, services } = load(read('compose.yaml')) as {
  readonly configs: Readonly<Record<string, { readonly content: string }>>;
  readonly services: Readonly<Record<string, Service>>;
};
const worker = services.worker!;
const manifests = loadAll(read('kubernetes.yaml')) as Manifest[];
const kind = (name: string): Manifest => manifests.find((manifest) => manifest.kind === name);
const pod = kind('Deployment').spec.template;
const [container] = pod.spec.containers;

/** A JSON array behind an instruction of the recipe. */
const words = (instruction: string): string[] =>
  JSON.parse(new RegExp(`^\\s*${instruction} (\\[.*\\])$`, 'm').exec(recipe)![1]!);
const entrypoint = words('ENTRYPOINT');
const port = Number(entrypoint[entrypoint.indexOf('--metrics') + 1]!.slice(1));
const host = (inspected: (words: readonly string[]) => void): CommandHost => ({
  environment: {},
  exit: () => {},
  exitCode: 0,
  inspect: ({ name }) => inspected([name]),
});
const workerCommand = (program: Command) =>
  program.commands
    .find((command) => command.name() === 'fleet')!
    .commands.find((command) => command.name() === 'worker')!;
const options = workerCommand(buildProgram(host(() => {}))).options;

describe('the files of a deployment', () => {
  it('pin a version of every image, and that of the package everywhere', () => {
    const bases = [...recipe.matchAll(/^FROM (\S+)/gm)].map(([, image]) => image!);
    const images = [...bases, ...Object.values(services).map(({ image }) => image), container.image];
    expect(images.filter((image) => !/^[\w./-]+:v?\d+(\.\d+)+(-\w+)*$/.test(image))).toEqual([]);
    expect(new Set(bases).size).toBe(1);
    expect(bases[0]).toContain(`:${project.devDependencies.node.replace('^', '')}-`);
    expect(services.temporal!.image.split(':')[1]).toBe(services['temporal-schema']!.image.split(':')[1]);
    const ours = [worker.image, container.image];
    expect(ours).toEqual(ours.map(() => `dray-worker:${project.version}`));
    expect(recipe.match(/dray-\d+\.\d+\.\d+\.tgz/g)).toEqual([1, 2].map(() => `dray-${project.version}.tgz`));
    for (const [name, version] of Object.entries(project.peerDependencies))
      expect(recipe.split(/\s+/)).toContain(`${name}@${version}`);
  });

  it('start a worker with options that it has', async () => {
    const [command, ...fixed] = entrypoint;
    expect(command).toBe('dray');
    for (const own of [[], worker.command!, container.args]) {
      const seen: (readonly string[])[] = [];
      const program = buildProgram(host((line) => seen.push(line)));
      await program.parseAsync([...fixed, ...own], { from: 'user' });
      expect(seen).toEqual([['fleet worker']]);
    }
    const program = buildProgram(host(() => {}));
    await expect(program.parseAsync([...fixed, '--slot', '4'], { from: 'user' })).rejects.toThrow('--slot');
  });

  it('set variables that a worker reads, and ask Temporal and the queue that it asks', () => {
    const known = new Set(options.flatMap(({ envVar }) => envVar ?? []));
    const { data } = kind('ConfigMap');
    expect(Object.keys(worker.environment!).filter((name) => !known.has(name))).toEqual([]);
    expect(Object.keys(data).filter((name) => !known.has(name))).toEqual([]);
    expect(worker.environment!.TEMPORAL_ADDRESS).toBe('temporal:7233');
    expect(services.temporal!.ports).toEqual([expect.stringMatching(/:7233:7233$/)]);

    const { metadata, type } = kind('ScaledObject').spec.triggers[0];
    expect(type).toBe('temporal');
    expect(metadata.endpoint).toBe(data.TEMPORAL_ADDRESS);
    expect(metadata.namespace).toBe(data.TEMPORAL_NAMESPACE);
    expect(metadata.taskQueue).toBe(options.find(({ long }) => long === '--queue')!.defaultValue);
    expect(metadata.queueTypes.split(',').sort()).toEqual(['activity', 'workflow']);
  });

  it('give the server the file of settings without which it does not start', () => {
    const [file] = services.temporal!.configs!;
    expect(file!.target).toBe('/etc/temporal/config/dynamicconfig/docker.yaml');
    expect(load(configs[file!.source]!.content)).toEqual({});
  });

  it('look for the health of a worker where it serves its metrics', () => {
    expect(recipe).toContain(`EXPOSE ${port}\n`);
    expect(recipe).toContain(`fetch('http://127.0.0.1:${port}/metrics')`);
    expect(container.ports).toEqual([{ name: 'metrics', containerPort: port }]);
    for (const probe of [container.readinessProbe, container.livenessProbe])
      expect(probe.httpGet).toEqual({ path: '/metrics', port: 'metrics' });
    expect(pod.metadata.annotations).toMatchObject({ 'prometheus.io/port': `${port}` });
  });

  it('give a worker the time to give back its parts', () => {
    const drainOf = (parameters: readonly string[]) =>
      Number.parseInt(parameters[parameters.indexOf('--drain') + 1]!, 10);
    expect(Number.parseInt(worker.stop_grace_period!, 10)).toBeGreaterThan(drainOf(worker.command!) + 10);
    expect(pod.spec.terminationGracePeriodSeconds).toBeGreaterThan(drainOf(container.args) + 10);
    expect(recipe).toContain('STOPSIGNAL SIGTERM\n');
  });

  it('run a worker without rights that it does not need', () => {
    expect(recipe).toMatch(/^USER 1000:1000$/m);
    expect(worker).toMatchObject({ read_only: true, cap_drop: ['ALL'], tmpfs: ['/tmp'] });
    expect(pod.spec.securityContext).toMatchObject({ runAsNonRoot: true, runAsUser: 1000 });
    expect(container.securityContext).toEqual({
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      capabilities: { drop: ['ALL'] },
    });
  });

  it('bound the memory of everything that keeps running', () => {
    const running = Object.entries(services).filter(([, { restart }]) => restart === 'unless-stopped');
    expect(running).toHaveLength(4);
    expect(running.filter(([, { deploy }]) => !deploy?.resources.limits.memory)).toEqual([]);
    expect(container.resources).toMatchObject({
      requests: { cpu: expect.anything(), memory: expect.anything() },
      limits: { memory: expect.anything() },
    });
  });

  it('hold no secret, and open no port to other machines', () => {
    const values = Object.values(services).flatMap(({ environment = {} }) => Object.entries(environment));
    const secrets = values.filter(([name]) => /PASSWORD|PWD|SECRET|KEY|TOKEN/.test(name));
    expect(secrets.length).toBeGreaterThan(2);
    expect(secrets.filter(([, value]) => !/^\$\{\w+:\?[^}]*\}$/.test(value))).toEqual([]);
    expect(kind('Secret')).toBeUndefined();
    const ports = Object.values(services).flatMap(({ ports: own = [] }) => own);
    expect(ports.filter((open) => !/^(127\.0\.0\.1|\$\{TEMPORAL_BIND:-127\.0\.0\.1\}):/.test(open))).toEqual(
      [],
    );
  });

  it('are all read by these tests', () => {
    const names = globSync('*', { cwd: FOLDER }).filter((name) => !name.endsWith('.ts'));
    expect(names.sort()).toEqual([
      'compose.yaml',
      'kubernetes.yaml',
      'worker.Dockerfile',
      'worker.Dockerfile.dockerignore',
    ]);
  });
});
