import { Type } from 'typebox';
import { Compile } from 'typebox/compile';
import { categoryIdFault, nameFault, statusFault } from '../../domain/pet.js';
import type { Fault } from '../../domain/errors.js';
import type { PetStatus } from '../../domain/pet-status.js';

/** A schema whose rule, and whose message when it is broken, are the domain's. */
const ruled = <T>(fault: (value: unknown) => string | undefined) =>
  Type.Refine(
    Type.Unsafe<T>({}),
    (value) => fault(value) === undefined,
    (value) => fault(value) ?? '',
  );

/** NewPet of the interface. Members that it does not name are allowed, and ignored. */
export const NewPetSchema = Type.Object({
  name: ruled<string>(nameFault),
  categoryId: ruled<bigint>(categoryIdFault),
  status: Type.Optional(ruled<PetStatus>(statusFault)),
});

const newPet = Compile(NewPetSchema);

/** Whether a value read from JSON is a NewPet. */
export const isNewPet = (value: object): value is Type.Static<typeof NewPetSchema> => newPet.Check(value);

/** Every rule of NewPet that the value breaks, field by field; for one that `isNewPet` refused. */
export function newPetFaults(value: object): Fault[] {
  const faults: Fault[] = [];
  for (const error of newPet.Errors(value)) {
    if (error.keyword === 'required') {
      for (const field of error.params.requiredProperties) faults.push({ field, message: 'is required' });
    } else {
      faults.push({ field: error.instancePath.slice(1), message: error.message });
    }
  }
  return faults;
}
