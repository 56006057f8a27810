/**
 * Why a process was stopped, on disk before the first signal (cause before kill). The first reason wins: a deadline that
 * fires during a cancel stays a cancel. A stop that came after the exit is taken back: it stopped nothing.
 */
import { linkSync, rmSync, writeFileSync } from 'node:fs';
import { Stop } from '../../contract/stop-reasons.ts';
import { readRecord } from '../record-file.ts';
import { files } from './attempt-files.ts';

export const readStop = (dir: string): Stop | null => readRecord(files(dir).stop, Stop);

/** The stop that counts, and whether it is this one. Written aside, then linked: the name appears once, with all its text. */
export const recordStop = (dir: string, stop: Stop): { stop: Stop; first: boolean } => {
  const { stop: path } = files(dir);
  const beside = `${path}.tmp`;
  writeFileSync(beside, JSON.stringify(stop), { mode: 0o600, flush: true });
  try {
    linkSync(beside, path);
    return { stop, first: true };
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    return { stop: readStop(dir) ?? stop, first: false };
  } finally {
    rmSync(beside, { force: true });
  }
};

export const takeBackStop = (dir: string): void => rmSync(files(dir).stop, { force: true });
