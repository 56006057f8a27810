/**
 * Shells, schedulers and wrappers in the language of their host print around what a CLI says: banners, clocks, their own idea of what
 * went wrong. Around a stream of events nothing of that changes a cause or a switch; around plain output it never makes a switch.
 */
import { describe, expect, it } from 'vitest';
import { type Case, cases, casesNow, moreCases } from '../../test/support/cases.ts';
import { verifies } from '../../test/support/verifies.ts';
import { diagnoseRow, type EvidenceRow } from './from-evidence-row.ts';

/** Before and after, as such wrappers print them: seen ones, and those with the words that older systems look for. */
const wrappers: Record<string, [before: string, after: string]> = {
  German: [
    'Starte Agent … (Anmeldung: OAuth-Token aktiv)',
    'Fehler: Anmeldung fehlgeschlagen (401). Sitzungslimit erreicht.',
  ],
  Japanese: [
    'エージェントを起動しています（認証済み）',
    'エラー: 認証に失敗しました (401 Unauthorized)。利用上限に達しました。',
  ],
  Chinese: ['正在启动代理（令牌有效）', '错误：登录失败 (401)。已达到使用上限 429。'],
  Korean: ['에이전트를 시작합니다', '오류: 인증에 실패했습니다(401). 사용 한도에 도달했습니다.'],
  Russian: ['Запуск агента…', 'Ошибка: не удалось войти (401). Лимит использования исчерпан.'],
  Arabic: ['\u202bبدء تشغيل الوكيل\u202c', '\u202bخطأ: فشل تسجيل الدخول (401). تم بلوغ حد الاستخدام.\u202c'],
  French: ['Démarrage de l’agent…', 'Erreur : échec de l’authentification (403). Limite d’utilisation atteinte.'],
  Turkish: ['Ajan başlatılıyor…', 'Hata: oturum açılamadı (401). KULLANIM SINIRINA ULAŞILDI.'],
  'cmd.exe': ['Aktive Codepage: 65001.', 'Das System kann den angegebenen Pfad nicht finden.'],
  coloured: ['\u001b[32m▶ agent\u001b[0m', '\u001b[31m✖ unauthorized: token expired, rate limit\u001b[0m'],
  'a clock': ['[2026-11-30 18:04:03.401] start', '[2026-11-30 18:04:29.429] exit code 137, took 403 ms'],
};

const join = (...parts: (string | null | undefined)[]) => parts.filter((p) => p !== '' && p != null).join('\n');
const around = (row: EvidenceRow, [before, after]: [string, string]): EvidenceRow[] => [
  { ...row, stdout_tail: join(before, row.stdout_tail) },
  { ...row, stdout_tail: join(row.stdout_tail, after) },
  { ...row, stdout_tail: join(before, row.stdout_tail, after), stderr_tail: join(before, row.stderr_tail, after) },
  { ...row, stdout_tail: join(after, row.stdout_tail, after), stderr_tail: join(after, row.stderr_tail, after) },
];

const rows = [...cases, ...moreCases].filter(
  (c) => c.row.cli === 'claude' || c.row.cli === 'codex' || c.row.cli === 'gemini',
);
const speaksEvents = ({ row }: Pick<Case, 'row'>) => row.result_event != null || /^\s*\{"/m.test(row.stdout_tail ?? '');
const judged = (row: EvidenceRow) => diagnoseRow(row, { now: casesNow });

describe.each(Object.entries(wrappers))('a wrapper that prints around it (%s)', (_name, wrapper) => {
  it(verifies('R35', 'R36')('changes no cause and no switch of a stream of events'), () => {
    const streams = rows.filter(speaksEvents);
    expect(streams.length).toBeGreaterThan(150);
    const changed: string[] = [];
    for (const { row } of streams) {
      const whole = judged(row);
      for (const [i, wrapped] of around(row, wrapper).entries()) {
        const got = judged(wrapped);
        if (got.cause !== whole.cause || got.switch_credential !== whole.switch_credential)
          changed.push(
            `${row.id} ${i}: ${whole.cause} ${whole.switch_credential} → ${got.cause} ${got.switch_credential}, ${got.evidence[0]}`,
          );
      }
    }
    expect(changed).toEqual([]);
  });

  it(verifies('R36')('makes no switch of plain output that made none without it'), () => {
    const wrong: string[] = [];
    for (const c of rows.filter((r) => !speaksEvents(r))) {
      const whole = judged(c.row);
      for (const wrapped of around(c.row, wrapper)) {
        const got = judged(wrapped);
        if (got.switch_credential === true && whole.switch_credential !== true)
          wrong.push(`${c.row.id}: ${got.cause}, ${got.evidence[0]}`);
      }
    }
    expect(wrong).toEqual([]);
  });
});
