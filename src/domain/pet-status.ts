/** Every availability status an animal can have, in the order in which the interface lists them. */
export const PET_STATUSES = ['available', 'pending', 'sold'] as const;

/** An animal's availability, as text: one of `PET_STATUSES`. */
export type PetStatus = (typeof PET_STATUSES)[number];

/** Whether a value is the text of a status, case and all. */
export const isPetStatus = (value: unknown): value is PetStatus =>
  PET_STATUSES.some((status) => status === value);
