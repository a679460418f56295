CREATE TABLE "gateway"."auto_repayments" (
	"wallet" text NOT NULL,
	"cycle" integer NOT NULL,
	"attempt" integer NOT NULL,
	"ordered_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"outcome" text,
	"reason" text,
	"tx_hash" text,
	"ended_at" timestamp (3) with time zone,
	CONSTRAINT "auto_repayments_wallet_cycle_attempt_pk" PRIMARY KEY("wallet","cycle","attempt")
);
