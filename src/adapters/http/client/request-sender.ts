import type { Call } from '../../../application/animal-store.js';
import { UnavailableError } from '../../../domain/errors.js';
import type { OperationId } from '../operations.js';
import { readAnswer, type Answer } from './answer.js';
import { answerError } from './answer-error.js';
import type { ClientSettings } from './client-options.js';
import { Deprecations } from './deprecations.js';
import { readRetryAfter } from './http-date.js';
import { UnexpectedAnswerError } from './service-error.js';
import { pause, withinTime } from './waiting.js';

/** One call of an operation. Every one may be sent again: reads change nothing, and creates carry a key. */
export interface ClientRequest {
  readonly operation: OperationId;
  readonly method: 'GET' | 'POST';
  /** Below the base URL, with its query. */
  readonly target: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  /** The status of success. */
  readonly status: number;
  /** The animal asked for, for the error that says there is none. */
  readonly petId?: string;
}

/** Why an attempt failed, and whether and when another makes sense. */
interface Failure {
  readonly error: Error;
  readonly again: boolean;
  /** In seconds. */
  readonly retryAfter: number | undefined;
}

/** Statuses after which the request was not worked on, or may be sent again whatever became of it. */
const AGAIN: ReadonlySet<number> = new Set([408, 429, 502, 503, 504]);

/** Sends requests and repeats them, with exponential backoff and full jitter, within the call's time. */
export class RequestSender {
  readonly #settings: ClientSettings;
  readonly #deprecations: Deprecations;

  constructor(settings: ClientSettings) {
    this.#settings = settings;
    this.#deprecations = new Deprecations(settings.onDeprecated);
  }

  /**
   * The answer of success.
   * @throws what the last attempt failed with, or the reason of the signal
   */
  async send(request: ClientRequest, { signal }: Call): Promise<Answer> {
    const { timing, attemptDeadline, callDeadline, retries, onRetry } = this.#settings;
    const end = timing.elapsed() + callDeadline;
    for (let attempts = 1; ; attempts += 1) {
      signal?.throwIfAborted();
      const milliseconds = Math.max(1, Math.min(attemptDeadline, end - timing.elapsed()));
      const outcome = await this.#attempt(request, signal, milliseconds);
      if (!('error' in outcome)) return outcome;
      const { error, again, retryAfter = 0 } = outcome;
      const delay = retryAfter * 1000 + this.#jitter(attempts);
      if (!again || attempts > retries || timing.elapsed() + delay >= end) throw error;
      onRetry({ operation: request.operation, retry: attempts, delay, error });
      await pause({ signal, timing, milliseconds: delay });
    }
  }

  /** Full jitter spreads clients that failed together over the whole time. */
  #jitter(retry: number): number {
    const { retryDelay, maxRetryDelay, timing } = this.#settings;
    return timing.random() * Math.min(maxRetryDelay, retryDelay * 2 ** (retry - 1));
  }

  async #attempt(
    request: ClientRequest,
    signal: AbortSignal | undefined,
    milliseconds: number,
  ): Promise<Answer | Failure> {
    const { baseUrl, timing } = this.#settings;
    const url = baseUrl + request.target;
    const late = (): Error => new UnavailableError(`answering within ${Math.round(milliseconds)} ms`);
    let answer: Answer;
    try {
      answer = await withinTime((ending) => this.#exchange(url, request, ending), {
        signal,
        timing,
        milliseconds,
        late,
      });
    } catch (error) {
      signal?.throwIfAborted();
      if (error instanceof UnavailableError) return { error, again: true, retryAfter: undefined };
      throw error;
    }
    this.#deprecations.look(request.operation, answer.headers, url);
    if (answer.status === request.status) return answer;
    const retryAfter = readRetryAfter(answer.headers, () => timing.now());
    const error = answerError(answer, retryAfter, request.petId ?? '');
    return { error, again: AGAIN.has(answer.status) || isConflict(error), retryAfter };
  }

  async #exchange(url: string, request: ClientRequest, signal: AbortSignal): Promise<Answer> {
    const { apiKey, fetch, answerLimit } = this.#settings;
    const authorization = `Bearer ${await apiKey()}`;
    // A fetch that heeds no signal would still send what nobody waits for.
    signal.throwIfAborted();
    const { method, headers, body } = request;
    const init: RequestInit = {
      method,
      headers: { ...headers, Accept: 'application/json', Authorization: authorization },
      ...(body !== undefined && { body }),
      signal,
      // The key is for this address alone; no cookies either.
      redirect: 'manual',
      credentials: 'omit',
    };
    try {
      return await readAnswer(await fetch(url, init), answerLimit, signal);
    } catch (cause) {
      if (cause instanceof UnexpectedAnswerError) throw cause;
      throw new UnavailableError('reaching the service', { cause });
    }
  }
}

/** Decided soon, by the request with the same key that is still under way. */
const isConflict = (error: Error): boolean => 'code' in error && error.code === 'idempotency_conflict';
