CREATE TABLE "chain_relayer"."giveback_request" (
	"id" bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "chain_relayer"."giveback_request_id_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 9223372036854775807 START WITH 1 CACHE 1),
	"tx_hash" text NOT NULL,
	"log_index" integer NOT NULL,
	"asked_by" text NOT NULL,
	"reason" text NOT NULL,
	"asked_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"state" text DEFAULT 'asked' NOT NULL,
	"refusal" text,
	"operation_id" text,
	"decided_at" timestamp (3) with time zone,
	CONSTRAINT "giveback_request_named" CHECK (tx_hash ~ '^0x[0-9a-f]{64}$' and log_index >= 0),
	CONSTRAINT "giveback_request_signed" CHECK (btrim(asked_by) <> '' and btrim(reason) <> ''),
	CONSTRAINT "giveback_request_decided" CHECK ((state = 'refused') = (refusal is not null) and (state = 'ordered') = (operation_id is not null))
);
--> statement-breakpoint
CREATE UNIQUE INDEX "giveback_request_once" ON "chain_relayer"."giveback_request" USING btree ("tx_hash","log_index") WHERE state <> 'refused';--> statement-breakpoint
CREATE INDEX "giveback_request_asked" ON "chain_relayer"."giveback_request" USING btree ("id") WHERE state = 'asked';