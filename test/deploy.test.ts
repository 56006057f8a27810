/** The files of deploy/, compose.yaml and the Dockerfile against the code: what they start, and that no setting is forgotten. */
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { settings } from '../src/config.ts';
import { holderSocket } from '../src/kernel/home-sockets.ts';
import { holderArgs, programEnv, serverArgs } from '../src/kernel/programs.ts';

const names = Object.keys(settings);
const text = (file: string) => readFileSync(file, 'utf8');
const unit = (name: string) => text(`deploy/systemd/${name}.service`);
const all = (file: string, key: string) =>
  file
    .split('\n')
    .filter((l) => l.startsWith(`${key}=`))
    .map((l) => l.slice(key.length + 1));

const app = '/opt/drover/current';
const node = `${app}/node_modules/.bin/node`;

describe('the systemd units', () => {
  it('start the programs as the code does', () => {
    expect(all(unit('drover'), 'ExecStart')).toEqual([[node, ...serverArgs, `${app}/dist/server/main.js`].join(' ')]);
    const entry = `${app}/dist/server/holder.js`;
    const home = all(unit('drover'), 'Environment')
      .find((e) => e.startsWith('DROVER_HOME='))!
      .split('=')[1]!;
    expect(all(unit('drover-holder'), 'ExecStart')).toEqual([
      [node, ...holderArgs(entry), entry, home, holderSocket(home), 'kept'].join(' '),
    ]);
    for (const [name, value] of Object.entries(programEnv('/var/lib/drover')))
      expect(unit('drover')).toContain(`Environment=${name}=${value.replace('.cache', 'compiled')}`);
  });

  it('leave the agents alone at a restart', () => {
    for (const name of ['drover', 'drover-holder']) expect(all(unit(name), 'KillMode')).toEqual(['process']);
    expect(all(unit('drover-holder'), 'SendSIGKILL')).toEqual(['no']);
    expect(all(unit('drover-holder'), 'Delegate')).toEqual(['yes']);
    expect(unit('drover')).not.toMatch(/^(BindsTo|PartOf)=/m);
  });

  it('offer every setting', () => {
    const offered = [...text('deploy/systemd/drover.env').matchAll(/^#([A-Z_]+)=$/gm)].map((m) => m[1]!);
    expect(['DROVER_HOME', ...offered].sort()).toEqual([...names].sort());
    expect(all(unit('drover'), 'EnvironmentFile')).toEqual(['-/etc/drover/drover.env']);
  });

  const analyze = spawnSync('systemd-analyze', ['--version'], { encoding: 'utf8' });
  it.skipIf(analyze.status !== 0)('are read by systemd (skipped without systemd-analyze)', () => {
    const said = spawnSync(
      'systemd-analyze',
      [
        'verify',
        `${process.cwd()}/deploy/systemd/drover-holder.service`,
        `${process.cwd()}/deploy/systemd/drover.service`,
      ],
      { encoding: 'utf8' },
    ).stderr;
    const strange = said
      .split('\n')
      .filter(
        (l) => l !== '' && !l.includes(`${node} is not executable`) && !l.includes("Unknown key 'DelegateSubgroup'"),
      );
    expect(strange).toEqual([]);
  });
});

describe('compose.yaml', () => {
  it('passes every setting through, empty by default', () => {
    const { environment } = parse(text('compose.yaml')).services.drover as { environment: Record<string, string> };
    expect(Object.keys(environment).sort()).toEqual([...names].sort());
    for (const [name, value] of Object.entries(environment))
      if (!['DROVER_HOME', 'DROVER_HOST'].includes(name)) expect(value).toBe(`\${${name}:-}`);
  });
});

describe('the Dockerfile', () => {
  it('starts the server as the code does', () => {
    const command = JSON.parse(/^CMD (\[.*\])$/m.exec(text('Dockerfile'))![1]!);
    expect(command).toEqual(['/opt/drover/node_modules/.bin/node', ...serverArgs, '/opt/drover/dist/server/main.js']);
  });
});
