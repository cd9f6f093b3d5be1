/** Every availability status. */
export const PET_STATUSES = Object.freeze(['available', 'pending', 'sold'] as const);

/** An animal's availability: one of `PET_STATUSES`. */
export type PetStatus = (typeof PET_STATUSES)[number];

/** Whether `value` is a status. Case matters. */
export const isPetStatus = (value: unknown): value is PetStatus =>
  PET_STATUSES.some((status) => status === value);

/** The status of an animal that is added without one. Every animal has a status, so that a list by status finds it. */
export const DEFAULT_STATUS: PetStatus = 'available';

/** The rule that `status` breaks, or `undefined`. */
export function petStatusFault(status: unknown): string | undefined {
  return isPetStatus(status) ? undefined : `must be one of ${PET_STATUSES.join(', ')}`;
}
