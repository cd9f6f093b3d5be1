"""What a client generated for Python does, against a running service."""

import json
import sys

import openapi_client

url, key = sys.argv[1:]
LARGEST = 2**63 - 1

with openapi_client.ApiClient(openapi_client.Configuration(host=url, access_token=key)) as transport:
    animals = openapi_client.AnimalsApi(transport)
    created = animals.create_pet(openapi_client.NewPet(name="Bella", category_id=LARGEST))
    again = [
        animals.create_pet(openapi_client.NewPet(name="Milo", category_id=1, status="sold"), idempotency_key="once")
        for _ in range(2)
    ]
    listed = animals.list_pets(limit=100)
    page = animals.list_pets_with_http_info(limit=1)
    got = animals.get_pet(created.id)
    try:
        animals.get_pet(LARGEST)
        refusal = None
    except openapi_client.ApiException as error:
        refusal = {"http": error.status, **json.loads(error.body), "typed": error.data.code}

print(
    json.dumps(
        {
            "created": str(created.category_id),
            "once": len({pet.id for pet in again}) == 1,
            "listed": [str(pet.category_id) for pet in listed],
            "got": str(got.category_id),
            "status": got.status,
            "next": "Link" in (page.headers or {}),
            "refusal": refusal["typed"] if refusal else None,
        }
    )
)
