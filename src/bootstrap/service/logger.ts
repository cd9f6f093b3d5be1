import type { Logger } from 'pino';
import type { HttpLog, RespondedRequest } from '../../adapters/http/http-log.js';
import type { DeprecatedCall } from '../../adapters/http/http-interface.js';
import type { Clock } from '../../application/ports/clock.js';
import { isAnimalStoreError } from '../../domain/errors.js';
import { LogWriter } from './log-writer.js';
import type { Settings } from './settings.js';

let stderrLog: LogWriter | undefined;

/** What takes the lines of a log on stderr; a terminal, or a stream of tests, takes them itself. */
const logSink = (stderr: NodeJS.WriteStream): { write(lines: string): unknown } =>
  'fd' in stderr && !stderr.isTTY ? (stderrLog ??= new LogWriter(2)) : stderr;

/** A log on stderr. */
export async function createLogger(
  { logLevel, logFormat }: Settings,
  stderr: NodeJS.WriteStream,
): Promise<Logger> {
  const { pino } = await import('pino');
  const sink = logSink(stderr);
  const options = { level: logLevel, base: null, timestamp: pino.stdTimeFunctions.isoTime };
  if (logFormat === 'pretty' || (logFormat === 'auto' && stderr.isTTY)) {
    const { prettyFactory } = await import('pino-pretty');
    const format = prettyFactory({
      singleLine: true,
      colorize: stderr.isTTY,
      ignore: `time,level,url,docs,metrics,store,${IN_MESSAGE}`,
      messageFormat(line, _key, _label, { colors }) {
        const { time, level, msg } = line as unknown as Line;
        const label = pino.levels.labels[level]?.toUpperCase() ?? '';
        const severity = level > 40 ? colors.red(label) : level === 30 ? '' : colors.yellow(label);
        const text = msg === RESPONDED ? shortLine(line as unknown as Line & RespondedRequest) : msg;
        return [new Date(time).toLocaleTimeString('sv'), severity, text].filter(Boolean).join(' ');
      },
    });
    return pino(options, { write: (line) => void sink.write(format(line).replaceAll(C1, escaped)) });
  }
  return pino(options, sink);
}

/** Control characters that JSON does not escape. Terminals obey them: U+009B begins a command. */
const C1 = /[\x7f-\x9f]/g;
const escaped = (character: string): string => `\\x${character.charCodeAt(0).toString(16)}`;

const RESPONDED = 'responded';
/** What `shortLine` says, or leaves out for people. */
const IN_MESSAGE =
  'requestId,method,path,operation,clientAddress,userAgent,keyId,status,code,bytes,milliseconds';

/** What every line has. */
interface Line {
  readonly time: string;
  readonly level: number;
  readonly msg: string;
}

/** A response for people: `GET /v1/pets 200 2 ms shop-window`. */
const shortLine = ({ method, path, status, milliseconds, keyId, code }: RespondedRequest): string =>
  [method, path, status, `${Math.round(milliseconds)} ms`, keyId, code].filter(Boolean).join(' ');

function levelOf(error: unknown, isProbe = false) {
  if (error === undefined) return isProbe ? 'debug' : 'info';
  return isUnavailable(error) && error.cause === undefined ? 'warn' : 'error';
}

let millisecond = 0;
let isoText = '';

/** The time now. Many lines have the same one, and a text costs as much as half a line. */
function isoTime(): string {
  const now = Date.now();
  if (now !== millisecond) [millisecond, isoText] = [now, new Date(now).toISOString()];
  return isoText;
}

/** Logs one line for each response: health checks at debug, requests refused under load or late at warn, faults at error. */
export async function httpLogTo(logger: Logger): Promise<HttpLog> {
  const { pino } = await import('pino');
  const parts = logger as unknown as Record<symbol, { write(line: string): void } | undefined>;
  const stream = parts[pino.symbols.streamSym];
  const hasMixin = parts[pino.symbols.mixinSym] !== undefined;
  return {
    responded(response) {
      const { isProbe, error, keyFault, requestId, clientAddress } = response;
      if (keyFault === 'expired' || keyFault === 'revoked')
        logger.warn(
          { event: `api_key_${keyFault}_used`, requestId, clientAddress },
          `an API key was used that is ${keyFault}`,
        );
      if (response.operation === 'removePet' && response.status === 204) {
        const petId = decodeURIComponent(response.path.split('/').at(-1) ?? '');
        const { keyId } = response;
        logger.info({ event: 'pet_removed', requestId, keyId, petId }, `removed the animal ${petId}`);
      }
      const level = levelOf(error, isProbe);
      if (!logger.isLevelEnabled(level)) return;
      const milliseconds = Math.round(response.milliseconds * 1000) / 1000;
      const line = { ...response, isProbe: undefined, error: undefined, milliseconds };
      if (error !== undefined && !isUnavailable(error))
        return logger.error({ ...line, err: error }, RESPONDED);
      // No stack: under overload, or while the store is away, such lines are most of the log.
      const reason = error === undefined ? undefined : reasonOf(error);
      const all = { level: pino.levels.values[level], time: isoTime(), ...line, reason, msg: RESPONDED };
      // Past pino, which takes 3 us more for an object, unless something adds members to its lines (OpenTelemetry).
      if (hasMixin) logger[level]({ ...line, reason }, RESPONDED);
      else stream?.write(`${JSON.stringify(all)}\n`);
    },
  };
}

/** Logs one warning a day (in UTC) for each key and deprecated operation. */
export function deprecatedCallLogTo(logger: Logger, clock: Clock): (call: DeprecatedCall) => void {
  const logged = new Set<string>();
  let today = '';
  return ({ operationId, keyId, sunset }) => {
    const day = dayOf(clock.now());
    if (day !== today || logged.size >= 10_000) logged.clear();
    today = day;
    const call = `${operationId} ${keyId}`;
    if (logged.has(call)) return;
    logged.add(call);
    logger.warn({ operationId, keyId, sunset: dayOf(sunset) }, 'deprecated operation called');
  };
}

const dayOf = (date: Date): string => date.toISOString().slice(0, 10);

/** Whether a driven side, such as the store, cannot do its work now. */
export const isUnavailable = (error: unknown): error is Error =>
  isAnimalStoreError(error) && error.code === 'service_unavailable';

/** The message of an error and what its causes add to it, in one line. */
export function reasonOf(error: unknown): string {
  const text = (error instanceof Error ? error.message : String(error)).replaceAll('\n', ' ');
  const cause = error instanceof Error && error.cause !== undefined ? reasonOf(error.cause) : '';
  return text.includes(cause) ? text : `${text} ${cause}`;
}
