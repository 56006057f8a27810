import { describe, expect, it } from 'vitest';
import { joinWords, splitWords } from './argv.ts';

describe('a command as typed', () => {
  it('is split like a shell would, without expanding anything', () => {
    const cases: [string, string[]][] = [
      ['sh -c "echo hi"', ['sh', '-c', 'echo hi']],
      ["  a  'b c'd  ", ['a', 'b cd']],
      ['a "" \'\'', ['a', '', '']],
      ['a\\ b "c\\"d" \'e\\f\'', ['a b', 'c"d', 'e\\f']],
      ['echo $HOME *.ts', ['echo', '$HOME', '*.ts']],
      ['"keep \\n"', ['keep \\n']],
      ['end\\', ['end\\']],
    ];
    for (const [line, words] of cases) expect(splitWords(line)).toEqual({ words });
  });

  it('is written again as a line that means the same', () => {
    for (const words of [
      ['sh', '-c', 'echo "hi" && it\'s'],
      ['a', '', 'b c'],
      ['x\\y', '$HOME', 'ü'],
    ])
      expect(splitWords(joinWords(words))).toEqual({ words });
  });

  it('says what is wrong with it', () => {
    expect(splitWords('sh -c "echo')).toEqual({ problem: 'A " is not closed.' });
    expect(splitWords('  ')).toEqual({ problem: 'A command is needed.' });
  });
});
