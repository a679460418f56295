"""Plays the story with the client that openapi-python-client generates. Prints what it has read as JSON."""

import json
import os

import models  # The models of datamodel-code-generator: importing them compiles every pattern.
from api_client import Client
from api_client.api.account import get_me, get_me_activity_by_id
from api_client.api.money import post_topups
from api_client.api.operations import get_config
from api_client.api.quotes import post_quote
from api_client.models import QuoteRequest, TopupRequest
from openapi_spec_validator import validate

with open("openapi.json", encoding="utf-8") as file:
    validate(json.load(file))

base_url = os.environ["BASE_URL"]
visitor = Client(base_url=base_url)
client = Client(base_url=base_url, headers={"Authorization": os.environ["SESSION"]})

config = get_config.sync(client=visitor)
quote = post_quote.sync(client=visitor, body=QuoteRequest.from_dict({"pair": "USD/IDR"}))
me = get_me.sync(client=client)
order = {"amount": "500000", "method": "qr", "quoteId": quote.id}
checkout = post_topups.sync(client=client, body=TopupRequest.from_dict(order))
item = get_me_activity_by_id.sync(checkout.payment_id, client=client)
other = TopupRequest.from_dict({**order, "amount": "600000"})
refused = post_topups.sync_detailed(client=client, body=other)
checked = models.SingleItem.model_validate(item.to_dict())

print(
    json.dumps(
        {
            "chainId": config.chain.chain_id,
            "rate": quote.rate,
            "wallet": me.wallet,
            "cycle": me.cycle,
            "paymentId": checkout.payment_id,
            "status": checked.status.value,
            "inFlight": item.in_flight,
            "refused": [refused.status_code.value, refused.headers["x-error-code"], refused.parsed.error],
        }
    )
)
